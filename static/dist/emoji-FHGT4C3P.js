var e=`😀 grinning face
😃 grinning face with big eyes,smiley
😄 grinning face with smiling eyes,smile
😁 beaming face with smiling eyes,grin
😆 grinning squinting face,laughing,satisfied
😅 grinning face with sweat,sweat smile
🤣 rolling on the floor laughing,rofl
😂 face with tears of joy
🙂 slightly smiling face
🙃 upside-down face
🫠 melting face
😉 winking face
😊 smiling face with smiling eyes,blush
😇 smiling face with halo,innocent
🥰 smiling face with hearts,smiling face with three hearts
😍 smiling face with heart-eyes
🤩 star-struck
😘 face blowing a kiss,kissing heart
😗 kissing face
☺️ smiling face,relaxed
😚 kissing face with closed eyes
😙 kissing face with smiling eyes
🥲 smiling face with tear
😋 face savoring food,yum
😛 face with tongue,stuck out tongue
😜 winking face with tongue,stuck out tongue winking eye
🤪 zany face
😝 squinting face with tongue,stuck out tongue closed eyes
🤑 money-mouth face
🤗 smiling face with open hands,hugs
🤭 face with hand over mouth
🫢 face with open eyes and hand over mouth
🫣 face with peeking eye
🤫 shushing face
🤔 thinking face
🫡 saluting face
🤐 zipper-mouth face
🤨 face with raised eyebrow
😐 neutral face
😑 expressionless face
😶 face without mouth,no mouth
🫥 dotted line face
😶‍🌫️ face in clouds
😏 smirking face
😒 unamused face
🙄 face with rolling eyes
😬 grimacing face
😮‍💨 face exhaling
🤥 lying face
🫨 shaking face
😌 relieved face
😔 pensive face
😪 sleepy face
🤤 drooling face
😴 sleeping face
😷 face with medical mask
🤒 face with thermometer
🤕 face with head-bandage
🤢 nauseated face
🤮 face vomiting
🤧 sneezing face
🥵 hot face
🥶 cold face
🥴 woozy face
😵 face with crossed-out eyes,dizzy face
😵‍💫 face with spiral eyes
🤯 exploding head
🤠 cowboy hat face
🥳 partying face
🥸 disguised face
😎 smiling face with sunglasses
🤓 nerd face
🧐 face with monocle
😕 confused face
🫤 face with diagonal mouth
😟 worried face
🙁 slightly frowning face
☹️ frowning face
😮 face with open mouth
😯 hushed face
😲 astonished face
😳 flushed face
🥺 pleading face
🥹 face holding back tears
😦 frowning face with open mouth
😧 anguished face
😨 fearful face
😰 anxious face with sweat,cold sweat
😥 sad but relieved face,disappointed relieved
😢 crying face
😭 loudly crying face,sob
😱 face screaming in fear
😖 confounded face
😣 persevering face,persevere
😞 disappointed face
😓 downcast face with sweat
😩 weary face
😫 tired face
🥱 yawning face
😤 face with steam from nose,triumph
😡 enraged face,pout,rage
😠 angry face
🤬 face with symbols on mouth,cursing face
😈 smiling face with horns,smiling imp
👿 angry face with horns,imp
💀 skull
☠️ skull and crossbones
💩 pile of poo,hankey,shit
🤡 clown face
👹 ogre,japanese ogre
👺 goblin,japanese goblin
👻 ghost
👽 alien
👾 alien monster,space invader
🤖 robot
😺 grinning cat,smiley cat
😸 grinning cat with smiling eyes,smile cat
😹 cat with tears of joy
😻 smiling cat with heart-eyes
😼 cat with wry smile,smirk cat
😽 kissing cat
🙀 weary cat,scream cat
😿 crying cat,crying cat face
😾 pouting cat
🙈 see-no-evil monkey
🙉 hear-no-evil monkey
🙊 speak-no-evil monkey
💌 love letter
💘 heart with arrow,cupid
💝 heart with ribbon,gift heart
💖 sparkling heart
💗 growing heart
💓 beating heart
💞 revolving hearts
💕 two hearts
💟 heart decoration
❣️ heart exclamation,heavy heart exclamation
💔 broken heart
❤️‍🔥 heart on fire
❤️‍🩹 mending heart
❤️ red heart
🩷 pink heart
🧡 orange heart
💛 yellow heart
💚 green heart
💙 blue heart
🩵 light blue heart
💜 purple heart
🤎 brown heart
🖤 black heart
🩶 grey heart
🤍 white heart
💋 kiss mark
💯 hundred points,100
💢 anger symbol
💥 collision,boom
💫 dizzy
💦 sweat droplets,sweat drops
💨 dashing away
🕳️ hole
💬 speech balloon
👁️‍🗨️ eye in speech bubble
🗨️ left speech bubble
🗯️ right anger bubble
💭 thought balloon
💤 zzz

👋* waving hand,wave
🤚* raised back of hand
🖐️* hand with fingers splayed,raised hand with fingers splayed
✋* raised hand
🖖* vulcan salute
🫱* rightwards hand
🫲* leftwards hand
🫳* palm down hand
🫴* palm up hand
🫷* leftwards pushing hand
🫸* rightwards pushing hand
👌* ok hand
🤌* pinched fingers
🤏* pinching hand
✌️* victory hand
🤞* crossed fingers
🫰* hand with index finger and thumb crossed
🤟* love-you gesture
🤘* sign of the horns,metal
🤙* call me hand
👈* backhand index pointing left
👉* backhand index pointing right
👆* backhand index pointing up,point up 2
🖕* middle finger,fu
👇* backhand index pointing down
☝️* index pointing up
🫵* index pointing at the viewer
👍* thumbs up,+1
👎* thumbs down,-1
✊* raised fist
👊* oncoming fist,facepunch,punch
🤛* left-facing fist
🤜* right-facing fist
👏* clapping hands
🙌* raising hands,raised hands
🫶* heart hands
👐* open hands
🤲* palms up together
🤝* handshake
🙏* folded hands,pray
✍️* writing hand
💅* nail polish,nail care
🤳* selfie
💪* flexed biceps,muscle
🦾 mechanical arm
🦿 mechanical leg
🦵* leg
🦶* foot
👂* ear
🦻* ear with hearing aid
👃* nose
🧠 brain
🫀 anatomical heart
🫁 lungs
🦷 tooth
🦴 bone
👀 eyes
👁️ eye
👅 tongue
👄 mouth,lips
🫦 biting lip
👶* baby
🧒* child
👦* boy
👧* girl
🧑* person,adult
👱* person: blond hair
👨* man
🧔* person: beard
🧔‍♂️* man: beard
🧔‍♀️* woman: beard
👨‍🦰* man: red hair
👨‍🦱* man: curly hair
👨‍🦳* man: white hair
👨‍🦲* man: bald
👩* woman
👩‍🦰* woman: red hair
🧑‍🦰* person: red hair
👩‍🦱* woman: curly hair
🧑‍🦱* person: curly hair
👩‍🦳* woman: white hair
🧑‍🦳* person: white hair
👩‍🦲* woman: bald
🧑‍🦲* person: bald
👱‍♀️* woman: blond hair
👱‍♂️* man: blond hair
🧓* older person,older adult
👴* old man
👵* old woman
🙍* person frowning
🙍‍♂️* man frowning
🙍‍♀️* woman frowning
🙎* person pouting,pouting face
🙎‍♂️* man pouting
🙎‍♀️* woman pouting
🙅* person gesturing no,no good
🙅‍♂️* man gesturing no,ng man,no good man
🙅‍♀️* woman gesturing no,ng woman,no good woman
🙆* person gesturing ok
🙆‍♂️* man gesturing ok
🙆‍♀️* woman gesturing ok
💁* person tipping hand,information desk person
💁‍♂️* man tipping hand,sassy man
💁‍♀️* woman tipping hand,sassy woman
🙋* person raising hand
🙋‍♂️* man raising hand
🙋‍♀️* woman raising hand
🧏* deaf person
🧏‍♂️* deaf man
🧏‍♀️* deaf woman
🙇* person bowing
🙇‍♂️* man bowing
🙇‍♀️* woman bowing
🤦* person facepalming
🤦‍♂️* man facepalming
🤦‍♀️* woman facepalming
🤷* person shrugging
🤷‍♂️* man shrugging
🤷‍♀️* woman shrugging
🧑‍⚕️* health worker
👨‍⚕️* man health worker
👩‍⚕️* woman health worker
🧑‍🎓* student
👨‍🎓* man student
👩‍🎓* woman student
🧑‍🏫* teacher
👨‍🏫* man teacher
👩‍🏫* woman teacher
🧑‍⚖️* judge
👨‍⚖️* man judge
👩‍⚖️* woman judge
🧑‍🌾* farmer
👨‍🌾* man farmer
👩‍🌾* woman farmer
🧑‍🍳* cook
👨‍🍳* man cook
👩‍🍳* woman cook
🧑‍🔧* mechanic
👨‍🔧* man mechanic
👩‍🔧* woman mechanic
🧑‍🏭* factory worker
👨‍🏭* man factory worker
👩‍🏭* woman factory worker
🧑‍💼* office worker
👨‍💼* man office worker
👩‍💼* woman office worker
🧑‍🔬* scientist
👨‍🔬* man scientist
👩‍🔬* woman scientist
🧑‍💻* technologist
👨‍💻* man technologist
👩‍💻* woman technologist
🧑‍🎤* singer
👨‍🎤* man singer
👩‍🎤* woman singer
🧑‍🎨* artist
👨‍🎨* man artist
👩‍🎨* woman artist
🧑‍✈️* pilot
👨‍✈️* man pilot
👩‍✈️* woman pilot
🧑‍🚀* astronaut
👨‍🚀* man astronaut
👩‍🚀* woman astronaut
🧑‍🚒* firefighter
👨‍🚒* man firefighter
👩‍🚒* woman firefighter
👮* police officer,cop
👮‍♂️* man police officer
👮‍♀️* woman police officer
🕵️* detective
🕵️‍♂️* man detective,male detective
🕵️‍♀️* woman detective,female detective
💂* guard
💂‍♂️* man guard
💂‍♀️* woman guard
🥷* ninja
👷* construction worker
👷‍♂️* man construction worker
👷‍♀️* woman construction worker
🫅* person with crown
🤴* prince
👸* princess
👳* person wearing turban,person with turban
👳‍♂️* man wearing turban,man with turban
👳‍♀️* woman wearing turban,woman with turban
👲* person with skullcap,man with gua pi mao
🧕* woman with headscarf
🤵* person in tuxedo
🤵‍♂️* man in tuxedo
🤵‍♀️* woman in tuxedo
👰* person with veil
👰‍♂️* man with veil
👰‍♀️* woman with veil,bride with veil
🤰* pregnant woman
🫃* pregnant man
🫄* pregnant person
🤱* breast-feeding
👩‍🍼* woman feeding baby
👨‍🍼* man feeding baby
🧑‍🍼* person feeding baby
👼* baby angel
🎅* santa claus
🤶* mrs. claus
🧑‍🎄* mx claus
🦸* superhero
🦸‍♂️* man superhero
🦸‍♀️* woman superhero
🦹* supervillain
🦹‍♂️* man supervillain
🦹‍♀️* woman supervillain
🧙* mage
🧙‍♂️* man mage
🧙‍♀️* woman mage
🧚* fairy
🧚‍♂️* man fairy
🧚‍♀️* woman fairy
🧛* vampire
🧛‍♂️* man vampire
🧛‍♀️* woman vampire
🧜* merperson
🧜‍♂️* merman
🧜‍♀️* mermaid
🧝* elf
🧝‍♂️* man elf
🧝‍♀️* woman elf
🧞 genie
🧞‍♂️ man genie
🧞‍♀️ woman genie
🧟 zombie
🧟‍♂️ man zombie
🧟‍♀️ woman zombie
🧌 troll
💆* person getting massage
💆‍♂️* man getting massage
💆‍♀️* woman getting massage
💇* person getting haircut
💇‍♂️* man getting haircut
💇‍♀️* woman getting haircut
🚶* person walking
🚶‍♂️* man walking
🚶‍♀️* woman walking
🧍* person standing
🧍‍♂️* man standing
🧍‍♀️* woman standing
🧎* person kneeling
🧎‍♂️* man kneeling
🧎‍♀️* woman kneeling
🧑‍🦯* person with white cane,person with probing cane
👨‍🦯* man with white cane,man with probing cane
👩‍🦯* woman with white cane,woman with probing cane
🧑‍🦼* person in motorized wheelchair
👨‍🦼* man in motorized wheelchair
👩‍🦼* woman in motorized wheelchair
🧑‍🦽* person in manual wheelchair
👨‍🦽* man in manual wheelchair
👩‍🦽* woman in manual wheelchair
🏃* person running,runner
🏃‍♂️* man running
🏃‍♀️* woman running
💃* woman dancing,dancer
🕺* man dancing
🕴️* person in suit levitating,business suit levitating
👯* people with bunny ears,dancers
👯‍♂️* men with bunny ears,dancing men
👯‍♀️* women with bunny ears,dancing women
🧖* person in steamy room,sauna person
🧖‍♂️* man in steamy room,sauna man
🧖‍♀️* woman in steamy room,sauna woman
🧗* person climbing
🧗‍♂️* man climbing
🧗‍♀️* woman climbing
🤺 person fencing
🏇* horse racing
⛷️ skier
🏂* snowboarder
🏌️* person golfing
🏌️‍♂️* man golfing
🏌️‍♀️* woman golfing
🏄* person surfing,surfer
🏄‍♂️* man surfing
🏄‍♀️* woman surfing
🚣* person rowing boat,rowboat
🚣‍♂️* man rowing boat
🚣‍♀️* woman rowing boat
🏊* person swimming,swimmer
🏊‍♂️* man swimming
🏊‍♀️* woman swimming
⛹️* person bouncing ball
⛹️‍♂️* man bouncing ball,basketball man
⛹️‍♀️* woman bouncing ball,basketball woman
🏋️* person lifting weights
🏋️‍♂️* man lifting weights
🏋️‍♀️* woman lifting weights
🚴* person biking,bicyclist
🚴‍♂️* man biking
🚴‍♀️* woman biking
🚵* person mountain biking,mountain bicyclist
🚵‍♂️* man mountain biking
🚵‍♀️* woman mountain biking
🤸* person cartwheeling
🤸‍♂️* man cartwheeling
🤸‍♀️* woman cartwheeling
🤼* people wrestling
🤼‍♂️* men wrestling
🤼‍♀️* women wrestling
🤽* person playing water polo
🤽‍♂️* man playing water polo
🤽‍♀️* woman playing water polo
🤾* person playing handball
🤾‍♂️* man playing handball
🤾‍♀️* woman playing handball
🤹* person juggling
🤹‍♂️* man juggling
🤹‍♀️* woman juggling
🧘* person in lotus position
🧘‍♂️* man in lotus position
🧘‍♀️* woman in lotus position
🛀* person taking bath
🛌* person in bed,sleeping bed
🧑‍🤝‍🧑 people holding hands
👭* women holding hands,two women holding hands
👫* woman and man holding hands,couple
👬* men holding hands,two men holding hands
💏* kiss,couplekiss
👩‍❤️‍💋‍👨 kiss: woman, man,couplekiss man woman
👨‍❤️‍💋‍👨 kiss: man, man,couplekiss man man
👩‍❤️‍💋‍👩 kiss: woman, woman,couplekiss woman woman
💑* couple with heart
👩‍❤️‍👨 couple with heart: woman, man
👨‍❤️‍👨 couple with heart: man, man
👩‍❤️‍👩 couple with heart: woman, woman
👨‍👩‍👦 family: man, woman, boy
👨‍👩‍👧 family: man, woman, girl
👨‍👩‍👧‍👦 family: man, woman, girl, boy
👨‍👩‍👦‍👦 family: man, woman, boy, boy
👨‍👩‍👧‍👧 family: man, woman, girl, girl
👨‍👨‍👦 family: man, man, boy
👨‍👨‍👧 family: man, man, girl
👨‍👨‍👧‍👦 family: man, man, girl, boy
👨‍👨‍👦‍👦 family: man, man, boy, boy
👨‍👨‍👧‍👧 family: man, man, girl, girl
👩‍👩‍👦 family: woman, woman, boy
👩‍👩‍👧 family: woman, woman, girl
👩‍👩‍👧‍👦 family: woman, woman, girl, boy
👩‍👩‍👦‍👦 family: woman, woman, boy, boy
👩‍👩‍👧‍👧 family: woman, woman, girl, girl
👨‍👦 family: man, boy
👨‍👦‍👦 family: man, boy, boy
👨‍👧 family: man, girl
👨‍👧‍👦 family: man, girl, boy
👨‍👧‍👧 family: man, girl, girl
👩‍👦 family: woman, boy
👩‍👦‍👦 family: woman, boy, boy
👩‍👧 family: woman, girl
👩‍👧‍👦 family: woman, girl, boy
👩‍👧‍👧 family: woman, girl, girl
🗣️ speaking head
👤 bust in silhouette
👥 busts in silhouette
🫂 people hugging
👪 family
👣 footprints

🐵 monkey face
🐒 monkey
🦍 gorilla
🦧 orangutan
🐶 dog face
🐕 dog
🦮 guide dog
🐕‍🦺 service dog
🐩 poodle
🐺 wolf
🦊 fox,fox face
🦝 raccoon
🐱 cat face
🐈 cat
🐈‍⬛ black cat
🦁 lion
🐯 tiger face
🐅 tiger
🐆 leopard
🐴 horse face
🫎 moose
🫏 donkey
🐎 horse,racehorse
🦄 unicorn
🦓 zebra
🦌 deer
🦬 bison
🐮 cow face
🐂 ox
🐃 water buffalo
🐄 cow
🐷 pig face
🐖 pig
🐗 boar
🐽 pig nose
🐏 ram
🐑 ewe,sheep
🐐 goat
🐪 camel,dromedary camel
🐫 two-hump camel
🦙 llama
🦒 giraffe
🐘 elephant
🦣 mammoth
🦏 rhinoceros
🦛 hippopotamus
🐭 mouse face
🐁 mouse
🐀 rat
🐹 hamster
🐰 rabbit face
🐇 rabbit
🐿️ chipmunk
🦫 beaver
🦔 hedgehog
🦇 bat
🐻 bear
🐻‍❄️ polar bear
🐨 koala
🐼 panda,panda face
🦥 sloth
🦦 otter
🦨 skunk
🦘 kangaroo
🦡 badger
🐾 paw prints,feet
🦃 turkey
🐔 chicken
🐓 rooster
🐣 hatching chick
🐤 baby chick
🐥 front-facing baby chick,hatched chick
🐦 bird
🐧 penguin
🕊️ dove
🦅 eagle
🦆 duck
🦢 swan
🦉 owl
🦤 dodo
🪶 feather
🦩 flamingo
🦚 peacock
🦜 parrot
🪽 wing
🐦‍⬛ black bird
🪿 goose
🐸 frog
🐊 crocodile
🐢 turtle
🦎 lizard
🐍 snake
🐲 dragon face
🐉 dragon
🦕 sauropod
🦖 t-rex
🐳 spouting whale
🐋 whale
🐬 dolphin,flipper
🦭 seal
🐟 fish
🐠 tropical fish
🐡 blowfish
🦈 shark
🐙 octopus
🐚 spiral shell
🪸 coral
🪼 jellyfish
🦀 crab
🦞 lobster
🦐 shrimp
🦑 squid
🦪 oyster
🐌 snail
🦋 butterfly
🐛 bug
🐜 ant
🐝 honeybee,bee
🪲 beetle
🐞 lady beetle
🦗 cricket
🪳 cockroach
🕷️ spider
🕸️ spider web
🦂 scorpion
🦟 mosquito
🪰 fly
🪱 worm
🦠 microbe
💐 bouquet
🌸 cherry blossom
💮 white flower
🪷 lotus
🏵️ rosette
🌹 rose
🥀 wilted flower
🌺 hibiscus
🌻 sunflower
🌼 blossom
🌷 tulip
🪻 hyacinth
🌱 seedling
🪴 potted plant
🌲 evergreen tree
🌳 deciduous tree
🌴 palm tree
🌵 cactus
🌾 sheaf of rice,ear of rice
🌿 herb
☘️ shamrock
🍀 four leaf clover
🍁 maple leaf
🍂 fallen leaf
🍃 leaf fluttering in wind,leaves
🪹 empty nest
🪺 nest with eggs
🍄 mushroom

🍇 grapes
🍈 melon
🍉 watermelon
🍊 tangerine,mandarin,orange
🍋 lemon
🍌 banana
🍍 pineapple
🥭 mango
🍎 red apple
🍏 green apple
🍐 pear
🍑 peach
🍒 cherries
🍓 strawberry
🫐 blueberries
🥝 kiwi fruit
🍅 tomato
🫒 olive
🥥 coconut
🥑 avocado
🍆 eggplant
🥔 potato
🥕 carrot
🌽 ear of corn
🌶️ hot pepper
🫑 bell pepper
🥒 cucumber
🥬 leafy green
🥦 broccoli
🧄 garlic
🧅 onion
🥜 peanuts
🫘 beans
🌰 chestnut
🫚 ginger root
🫛 pea pod
🍞 bread
🥐 croissant
🥖 baguette bread
🫓 flatbread
🥨 pretzel
🥯 bagel
🥞 pancakes
🧇 waffle
🧀 cheese wedge
🍖 meat on bone
🍗 poultry leg
🥩 cut of meat
🥓 bacon
🍔 hamburger
🍟 french fries
🍕 pizza
🌭 hot dog
🥪 sandwich
🌮 taco
🌯 burrito
🫔 tamale
🥙 stuffed flatbread
🧆 falafel
🥚 egg
🍳 cooking,fried egg
🥘 shallow pan of food
🍲 pot of food,stew
🫕 fondue
🥣 bowl with spoon
🥗 green salad
🍿 popcorn
🧈 butter
🧂 salt
🥫 canned food
🍱 bento box
🍘 rice cracker
🍙 rice ball
🍚 cooked rice
🍛 curry rice
🍜 steaming bowl,ramen
🍝 spaghetti
🍠 roasted sweet potato
🍢 oden
🍣 sushi
🍤 fried shrimp
🍥 fish cake with swirl
🥮 moon cake
🍡 dango
🥟 dumpling
🥠 fortune cookie
🥡 takeout box
🍦 soft ice cream
🍧 shaved ice
🍨 ice cream
🍩 doughnut
🍪 cookie
🎂 birthday cake
🍰 shortcake,cake
🧁 cupcake
🥧 pie
🍫 chocolate bar
🍬 candy
🍭 lollipop
🍮 custard
🍯 honey pot
🍼 baby bottle
🥛 glass of milk
☕ hot beverage,coffee
🫖 teapot
🍵 teacup without handle
🍶 sake
🍾 bottle with popping cork,champagne
🍷 wine glass
🍸 cocktail glass
🍹 tropical drink
🍺 beer mug
🍻 clinking beer mugs
🥂 clinking glasses
🥃 tumbler glass
🫗 pouring liquid
🥤 cup with straw
🧋 bubble tea
🧃 beverage box
🧉 mate
🧊 ice,ice cube
🥢 chopsticks
🍽️ fork and knife with plate,plate with cutlery
🍴 fork and knife
🥄 spoon
🔪 kitchen knife,hocho
🫙 jar
🏺 amphora

🌍 globe showing europe-africa,earth africa
🌎 globe showing americas,earth americas
🌏 globe showing asia-australia,earth asia
🌐 globe with meridians
🗺️ world map
🗾 map of japan
🧭 compass
🏔️ snow-capped mountain
⛰️ mountain
🌋 volcano
🗻 mount fuji
🏕️ camping
🏖️ beach with umbrella
🏜️ desert
🏝️ desert island
🏞️ national park
🏟️ stadium
🏛️ classical building
🏗️ building construction
🧱 brick
🪨 rock
🪵 wood
🛖 hut
🏘️ houses
🏚️ derelict house
🏠 house
🏡 house with garden
🏢 office building
🏣 japanese post office
🏤 post office,european post office
🏥 hospital
🏦 bank
🏨 hotel
🏩 love hotel
🏪 convenience store
🏫 school
🏬 department store
🏭 factory
🏯 japanese castle
🏰 castle,european castle
💒 wedding
🗼 tokyo tower
🗽 statue of liberty
⛪ church
🕌 mosque
🛕 hindu temple
🕍 synagogue
⛩️ shinto shrine
🕋 kaaba
⛲ fountain
⛺ tent
🌁 foggy
🌃 night with stars
🏙️ cityscape
🌄 sunrise over mountains
🌅 sunrise
🌆 cityscape at dusk,city sunset
🌇 sunset,city sunrise
🌉 bridge at night
♨️ hot springs
🎠 carousel horse
🛝 playground slide
🎡 ferris wheel
🎢 roller coaster
💈 barber pole
🎪 circus tent
🚂 locomotive,steam locomotive
🚃 railway car
🚄 high-speed train,bullettrain side
🚅 bullet train,bullettrain front
🚆 train
🚇 metro
🚈 light rail
🚉 station
🚊 tram
🚝 monorail
🚞 mountain railway
🚋 tram car,train
🚌 bus
🚍 oncoming bus
🚎 trolleybus
🚐 minibus
🚑 ambulance
🚒 fire engine
🚓 police car
🚔 oncoming police car
🚕 taxi
🚖 oncoming taxi
🚗 automobile,car,red car
🚘 oncoming automobile
🚙 sport utility vehicle,blue car
🛻 pickup truck
🚚 delivery truck
🚛 articulated lorry
🚜 tractor
🏎️ racing car
🏍️ motorcycle
🛵 motor scooter
🦽 manual wheelchair
🦼 motorized wheelchair
🛺 auto rickshaw
🚲 bicycle,bike
🛴 kick scooter
🛹 skateboard
🛼 roller skate
🚏 bus stop
🛣️ motorway
🛤️ railway track
🛢️ oil drum
⛽ fuel pump
🛞 wheel
🚨 police car light,rotating light
🚥 horizontal traffic light
🚦 vertical traffic light
🛑 stop sign
🚧 construction
⚓ anchor
🛟 ring buoy
⛵ sailboat,boat
🛶 canoe
🚤 speedboat
🛳️ passenger ship
⛴️ ferry
🛥️ motor boat
🚢 ship
✈️ airplane
🛩️ small airplane
🛫 airplane departure,flight departure
🛬 airplane arrival,flight arrival
🪂 parachute
💺 seat
🚁 helicopter
🚟 suspension railway
🚠 mountain cableway
🚡 aerial tramway
🛰️ satellite,artificial satellite
🚀 rocket
🛸 flying saucer
🛎️ bellhop bell
🧳 luggage
⌛ hourglass done
⏳ hourglass not done,hourglass flowing sand
⌚ watch
⏰ alarm clock
⏱️ stopwatch
⏲️ timer clock
🕰️ mantelpiece clock
🕛 twelve o’clock
🕧 twelve-thirty
🕐 one o’clock
🕜 one-thirty
🕑 two o’clock
🕝 two-thirty
🕒 three o’clock
🕞 three-thirty
🕓 four o’clock
🕟 four-thirty
🕔 five o’clock
🕠 five-thirty
🕕 six o’clock
🕡 six-thirty
🕖 seven o’clock
🕢 seven-thirty
🕗 eight o’clock
🕣 eight-thirty
🕘 nine o’clock
🕤 nine-thirty
🕙 ten o’clock
🕥 ten-thirty
🕚 eleven o’clock
🕦 eleven-thirty
🌑 new moon
🌒 waxing crescent moon
🌓 first quarter moon
🌔 waxing gibbous moon
🌕 full moon
🌖 waning gibbous moon
🌗 last quarter moon
🌘 waning crescent moon
🌙 crescent moon
🌚 new moon face,new moon with face
🌛 first quarter moon face,first quarter moon with face
🌜 last quarter moon face,last quarter moon with face
🌡️ thermometer
☀️ sun
🌝 full moon face,full moon with face
🌞 sun with face
🪐 ringed planet
⭐ star
🌟 glowing star
🌠 shooting star
🌌 milky way
☁️ cloud
⛅ sun behind cloud,partly sunny
⛈️ cloud with lightning and rain
🌤️ sun behind small cloud
🌥️ sun behind large cloud
🌦️ sun behind rain cloud
🌧️ cloud with rain
🌨️ cloud with snow
🌩️ cloud with lightning
🌪️ tornado
🌫️ fog
🌬️ wind face
🌀 cyclone
🌈 rainbow
🌂 closed umbrella
☂️ umbrella,open umbrella
☔ umbrella with rain drops
⛱️ umbrella on ground,parasol on ground
⚡ high voltage,zap
❄️ snowflake
☃️ snowman,snowman with snow
⛄ snowman without snow
☄️ comet
🔥 fire
💧 droplet
🌊 water wave,ocean

🎃 jack-o-lantern
🎄 christmas tree
🎆 fireworks
🎇 sparkler
🧨 firecracker
✨ sparkles
🎈 balloon
🎉 party popper,tada
🎊 confetti ball
🎋 tanabata tree
🎍 pine decoration,bamboo
🎎 japanese dolls
🎏 carp streamer,flags
🎐 wind chime
🎑 moon viewing ceremony,rice scene
🧧 red envelope
🎀 ribbon
🎁 wrapped gift
🎗️ reminder ribbon
🎟️ admission tickets
🎫 ticket
🎖️ military medal
🏆 trophy
🏅 sports medal
🥇 1st place medal
🥈 2nd place medal
🥉 3rd place medal
⚽ soccer ball
⚾ baseball
🥎 softball
🏀 basketball
🏐 volleyball
🏈 american football
🏉 rugby football
🎾 tennis
🥏 flying disc
🎳 bowling
🏏 cricket game
🏑 field hockey
🏒 ice hockey
🥍 lacrosse
🏓 ping pong
🏸 badminton
🥊 boxing glove
🥋 martial arts uniform
🥅 goal net
⛳ flag in hole,golf
⛸️ ice skate
🎣 fishing pole,fishing pole and fish
🤿 diving mask
🎽 running shirt,running shirt with sash
🎿 skis
🛷 sled
🥌 curling stone
🎯 bullseye,dart
🪀 yo-yo
🪁 kite
🔫 water pistol,gun
🎱 pool 8 ball
🔮 crystal ball
🪄 magic wand
🎮 video game
🕹️ joystick
🎰 slot machine
🎲 game die
🧩 puzzle piece,jigsaw
🧸 teddy bear
🪅 piñata,pinata
🪩 mirror ball
🪆 nesting dolls
♠️ spade suit
♥️ heart suit
♦️ diamond suit
♣️ club suit
♟️ chess pawn
🃏 joker,black joker
🀄 mahjong red dragon
🎴 flower playing cards
🎭 performing arts
🖼️ framed picture
🎨 artist palette
🧵 thread
🪡 sewing needle
🧶 yarn
🪢 knot

👓 glasses,eyeglasses
🕶️ sunglasses,dark sunglasses
🥽 goggles
🥼 lab coat
🦺 safety vest
👔 necktie
👕 t-shirt
👖 jeans
🧣 scarf
🧤 gloves
🧥 coat
🧦 socks
👗 dress
👘 kimono
🥻 sari
🩱 one-piece swimsuit
🩲 briefs,swim brief
🩳 shorts
👙 bikini
👚 woman’s clothes,womans clothes
🪭 folding hand fan
👛 purse
👜 handbag
👝 clutch bag,pouch
🛍️ shopping bags
🎒 backpack,school satchel
🩴 thong sandal
👞 man’s shoe,mans shoe
👟 running shoe,athletic shoe
🥾 hiking boot
🥿 flat shoe
👠 high-heeled shoe
👡 woman’s sandal
🩰 ballet shoes
👢 woman’s boot
🪮 hair pick
👑 crown
👒 woman’s hat,womans hat
🎩 top hat
🎓 graduation cap,mortar board
🧢 billed cap
🪖 military helmet
⛑️ rescue worker’s helmet
📿 prayer beads
💄 lipstick
💍 ring
💎 gem stone
🔇 muted speaker
🔈 speaker low volume
🔉 speaker medium volume,sound
🔊 speaker high volume,loud sound
📢 loudspeaker
📣 megaphone
📯 postal horn
🔔 bell
🔕 bell with slash,no bell
🎼 musical score
🎵 musical note
🎶 musical notes
🎙️ studio microphone
🎚️ level slider
🎛️ control knobs
🎤 microphone
🎧 headphone
📻 radio
🎷 saxophone
🎺 trumpet
🪗 accordion
🎸 guitar
🎹 musical keyboard
🎻 violin
🪕 banjo
🥁 drum
🪘 long drum
🪇 maracas
🪈 flute
📱 mobile phone,iphone
📲 mobile phone with arrow,calling
☎️ telephone,phone
📞 telephone receiver
📟 pager
📠 fax machine
🔋 battery
🪫 low battery
🔌 electric plug
💻 laptop,computer
🖥️ desktop computer
🖨️ printer
⌨️ keyboard
🖱️ computer mouse
🖲️ trackball
💽 computer disk,minidisc
💾 floppy disk
💿 optical disk,cd
📀 dvd
🧮 abacus
🎥 movie camera
🎞️ film frames,film strip
📽️ film projector
🎬 clapper board
📺 television,tv
📷 camera
📸 camera with flash
📹 video camera
📼 videocassette,vhs
🔍 magnifying glass tilted left
🔎 magnifying glass tilted right
🕯️ candle
💡 light bulb
🔦 flashlight
🏮 red paper lantern,izakaya lantern
🪔 diya lamp
📔 notebook with decorative cover
📕 closed book
📖 open book
📗 green book
📘 blue book
📙 orange book
📚 books
📓 notebook
📒 ledger
📃 page with curl
📜 scroll
📄 page facing up
📰 newspaper
🗞️ rolled-up newspaper
📑 bookmark tabs
🔖 bookmark
🏷️ label
🪙 coin
💰 money bag
💴 yen banknote
💵 dollar banknote
💶 euro banknote
💷 pound banknote
💸 money with wings
💳 credit card
🧾 receipt
💹 chart increasing with yen
✉️ envelope
📧 e-mail
📨 incoming envelope
📩 envelope with arrow
📤 outbox tray
📥 inbox tray
📦 package
📫 closed mailbox with raised flag
📪 closed mailbox with lowered flag
📬 open mailbox with raised flag
📭 open mailbox with lowered flag,mailbox with no mail
📮 postbox
🗳️ ballot box with ballot
✏️ pencil
✒️ black nib
🖋️ fountain pen
🖊️ pen
🖌️ paintbrush
🖍️ crayon
📝 memo,pencil
💼 briefcase
📁 file folder
📂 open file folder
🗂️ card index dividers
📅 calendar,date
📆 tear-off calendar
🗒️ spiral notepad
🗓️ spiral calendar
📇 card index
📈 chart increasing,chart with upwards trend
📉 chart decreasing,chart with downwards trend
📊 bar chart
📋 clipboard
📌 pushpin
📍 round pushpin
📎 paperclip
🖇️ linked paperclips
📏 straight ruler
📐 triangular ruler
✂️ scissors
🗃️ card file box
🗄️ file cabinet
🗑️ wastebasket
🔒 locked
🔓 unlocked
🔏 locked with pen,lock with ink pen
🔐 locked with key,closed lock with key
🔑 key
🗝️ old key
🔨 hammer
🪓 axe
⛏️ pick
⚒️ hammer and pick
🛠️ hammer and wrench
🗡️ dagger
⚔️ crossed swords
💣 bomb
🪃 boomerang
🏹 bow and arrow
🛡️ shield
🪚 carpentry saw
🔧 wrench
🪛 screwdriver
🔩 nut and bolt
⚙️ gear
🗜️ clamp
⚖️ balance scale
🦯 white cane,probing cane
🔗 link
⛓️ chains
🪝 hook
🧰 toolbox
🧲 magnet
🪜 ladder
⚗️ alembic
🧪 test tube
🧫 petri dish
🧬 dna
🔬 microscope
🔭 telescope
📡 satellite antenna
💉 syringe
🩸 drop of blood
💊 pill
🩹 adhesive bandage
🩼 crutch
🩺 stethoscope
🩻 x-ray
🚪 door
🛗 elevator
🪞 mirror
🪟 window
🛏️ bed
🛋️ couch and lamp
🪑 chair
🚽 toilet
🪠 plunger
🚿 shower
🛁 bathtub
🪤 mouse trap
🪒 razor
🧴 lotion bottle
🧷 safety pin
🧹 broom
🧺 basket
🧻 roll of paper
🪣 bucket
🧼 soap
🫧 bubbles
🪥 toothbrush
🧽 sponge
🧯 fire extinguisher
🛒 shopping cart
🚬 cigarette,smoking
⚰️ coffin
🪦 headstone
⚱️ funeral urn
🧿 nazar amulet
🪬 hamsa
🗿 moai,moyai
🪧 placard
🪪 identification card

🏧 atm sign
🚮 litter in bin sign,put litter in its place
🚰 potable water
♿ wheelchair symbol
🚹 men’s room,mens
🚺 women’s room,womens
🚻 restroom
🚼 baby symbol
🚾 water closet,wc
🛂 passport control
🛃 customs
🛄 baggage claim
🛅 left luggage
⚠️ warning
🚸 children crossing
⛔ no entry
🚫 prohibited,no entry sign
🚳 no bicycles
🚭 no smoking
🚯 no littering,do not litter
🚱 non-potable water
🚷 no pedestrians
📵 no mobile phones
🔞 no one under eighteen
☢️ radioactive
☣️ biohazard
⬆️ up arrow
↗️ up-right arrow
➡️ right arrow
↘️ down-right arrow,arrow lower right
⬇️ down arrow
↙️ down-left arrow,arrow lower left
⬅️ left arrow
↖️ up-left arrow
↕️ up-down arrow
↔️ left-right arrow
↩️ right arrow curving left,leftwards arrow with hook
↪️ left arrow curving right,arrow right hook
⤴️ right arrow curving up,arrow heading up
⤵️ right arrow curving down,arrow heading down
🔃 clockwise vertical arrows
🔄 counterclockwise arrows button
🔙 back arrow
🔚 end arrow
🔛 on! arrow
🔜 soon arrow
🔝 top arrow
🛐 place of worship
⚛️ atom symbol
🕉️ om
✡️ star of david
☸️ wheel of dharma
☯️ yin yang
✝️ latin cross
☦️ orthodox cross
☪️ star and crescent
☮️ peace symbol
🕎 menorah
🔯 dotted six-pointed star
🪯 khanda
♈ aries
♉ taurus
♊ gemini
♋ cancer
♌ leo
♍ virgo
♎ libra
♏ scorpio,scorpius
♐ sagittarius
♑ capricorn
♒ aquarius
♓ pisces
⛎ ophiuchus
🔀 shuffle tracks button,twisted rightwards arrows
🔁 repeat button
🔂 repeat single button,repeat one
▶️ play button,arrow forward
⏩ fast-forward button
⏭️ next track button
⏯️ play or pause button
◀️ reverse button,arrow backward
⏪ fast reverse button,rewind
⏮️ last track button,previous track button
🔼 upwards button,arrow up small
⏫ fast up button,arrow double up
🔽 downwards button,arrow down small
⏬ fast down button,arrow double down
⏸️ pause button
⏹️ stop button
⏺️ record button
⏏️ eject button
🎦 cinema
🔅 dim button,low brightness
🔆 bright button,high brightness
📶 antenna bars,signal strength
🛜 wireless
📳 vibration mode
📴 mobile phone off
♀️ female sign
♂️ male sign
⚧️ transgender symbol
✖️ multiply,heavy multiplication x
➕ plus,heavy plus sign
➖ minus,heavy minus sign
➗ divide,heavy division sign
🟰 heavy equals sign
♾️ infinity
‼️ double exclamation mark,bangbang
⁉️ exclamation question mark,interrobang
❓ red question mark
❔ white question mark,grey question
❕ white exclamation mark,grey exclamation
❗ red exclamation mark,heavy exclamation mark
〰️ wavy dash
💱 currency exchange
💲 heavy dollar sign
⚕️ medical symbol
♻️ recycling symbol,recycle
⚜️ fleur-de-lis
🔱 trident emblem
📛 name badge
🔰 japanese symbol for beginner
⭕ hollow red circle,o
✅ check mark button,white check mark
☑️ check box with check,ballot box with check
✔️ check mark,heavy check mark
❌ cross mark,x
❎ cross mark button,negative squared cross mark
➰ curly loop
➿ double curly loop
〽️ part alternation mark
✳️ eight-spoked asterisk
✴️ eight-pointed star,eight pointed black star
❇️ sparkle
©️ copyright
®️ registered
™️ trade mark,tm
#️⃣ keycap: #,hash
*️⃣ keycap: *,asterisk
0️⃣ keycap: 0,zero
1️⃣ keycap: 1,one
2️⃣ keycap: 2,two
3️⃣ keycap: 3,three
4️⃣ keycap: 4,four
5️⃣ keycap: 5,five
6️⃣ keycap: 6,six
7️⃣ keycap: 7,seven
8️⃣ keycap: 8,eight
9️⃣ keycap: 9,nine
🔟 keycap: 10,keycap ten
🔠 input latin uppercase,capital abcd
🔡 input latin lowercase,abcd
🔢 input numbers,1234
🔣 input symbols
🔤 input latin letters,abc
🅰️ a button (blood type)
🆎 ab button (blood type)
🅱️ b button (blood type)
🆑 cl button
🆒 cool button
🆓 free button
ℹ️ information,information source
🆔 id button
Ⓜ️ circled m
🆕 new button
🆖 ng button
🅾️ o button (blood type)
🆗 ok button
🅿️ p button
🆘 sos button
🆙 up! button
🆚 vs button
🈁 japanese “here” button,koko
🈂️ japanese “service charge” button,sa
🈷️ japanese “monthly amount” button,u6708
🈶 japanese “not free of charge” button,u6709
🈯 japanese “reserved” button,u6307
🉐 japanese “bargain” button,ideograph advantage
🈹 japanese “discount” button,u5272
🈚 japanese “free of charge” button,u7121
🈲 japanese “prohibited” button,u7981
🉑 japanese “acceptable” button,accept
🈸 japanese “application” button,u7533
🈴 japanese “passing grade” button,u5408
🈳 japanese “vacancy” button,u7a7a
㊗️ japanese “congratulations” button,congratulations
㊙️ japanese “secret” button,secret
🈺 japanese “open for business” button,u55b6
🈵 japanese “no vacancy” button,u6e80
🔴 red circle
🟠 orange circle
🟡 yellow circle
🟢 green circle
🔵 blue circle,large blue circle
🟣 purple circle
🟤 brown circle
⚫ black circle
⚪ white circle
🟥 red square
🟧 orange square
🟨 yellow square
🟩 green square
🟦 blue square
🟪 purple square
🟫 brown square
⬛ black large square
⬜ white large square
◼️ black medium square
◻️ white medium square
◾ black medium-small square
◽ white medium-small square
▪️ black small square
▫️ white small square
🔶 large orange diamond
🔷 large blue diamond
🔸 small orange diamond
🔹 small blue diamond
🔺 red triangle pointed up,small red triangle
🔻 red triangle pointed down,small red triangle down
💠 diamond with a dot,diamond shape with a dot inside
🔘 radio button
🔳 white square button
🔲 black square button

🏁 chequered flag,checkered flag
🚩 triangular flag,triangular flag on post
🎌 crossed flags
🏴 black flag
🏳️ white flag
🏳️‍🌈 rainbow flag
🏳️‍⚧️ transgender flag
🏴‍☠️ pirate flag
🏴󠁧󠁢󠁥󠁮󠁧󠁿 flag: england
🏴󠁧󠁢󠁳󠁣󠁴󠁿 flag: scotland
🏴󠁧󠁢󠁷󠁬󠁳󠁿 flag: wales
+ ACADAEAFAGAIALAMAOAQARASATAUAWAXAZBABBBDBEBFBGBHBIBJBLBMBNBOBQBRBSBTBVBWBYBZCACCCDCFCGCHCICKCLCMCNCOCPCRCUCVCWCXCYCZDEDGDJDKDMDODZEAECEEEGEHERESETEUFIFJFKFMFOFRGAGBGDGEGFGGGHGIGLGMGNGPGQGRGSGTGUGWGYHKHMHNHRHTHUICIDIEILIMINIOIQIRISITJEJMJOJPKEKGKHKIKMKNKPKRKWKYKZLALBLCLILKLRLSLTLULVLYMAMCMDMEMFMGMHMKMLMMMNMOMPMQMRMSMTMUMVMWMXMYMZNANCNENFNGNINLNONPNRNUNZOMPAPEPFPGPHPKPLPMPNPRPSPTPWPYQARERORSRURWSASBSCSDSESGSHSISJSKSLSMSNSOSRSSSTSVSXSYSZTATCTDTFTGTHTJTKTLTMTNTOTRTTTVTWTZUAUGUMUNUSUYUZVAVCVEVGVIVNVUWFWSXKYEYTZAZMZW`;export{e as table};
//# sourceMappingURL=emoji-FHGT4C3P.js.map
