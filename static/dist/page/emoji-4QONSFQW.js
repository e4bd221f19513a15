var e=`\u{1F600} grinning face
\u{1F603} grinning face with big eyes,smiley
\u{1F604} grinning face with smiling eyes,smile
\u{1F601} beaming face with smiling eyes,grin
\u{1F606} grinning squinting face,laughing,satisfied
\u{1F605} grinning face with sweat,sweat smile
\u{1F923} rolling on the floor laughing,rofl
\u{1F602} face with tears of joy
\u{1F642} slightly smiling face
\u{1F643} upside-down face
\u{1FAE0} melting face
\u{1F609} winking face
\u{1F60A} smiling face with smiling eyes,blush
\u{1F607} smiling face with halo,innocent
\u{1F970} smiling face with hearts,smiling face with three hearts
\u{1F60D} smiling face with heart-eyes
\u{1F929} star-struck
\u{1F618} face blowing a kiss,kissing heart
\u{1F617} kissing face
\u263A\uFE0F smiling face,relaxed
\u{1F61A} kissing face with closed eyes
\u{1F619} kissing face with smiling eyes
\u{1F972} smiling face with tear
\u{1F60B} face savoring food,yum
\u{1F61B} face with tongue,stuck out tongue
\u{1F61C} winking face with tongue,stuck out tongue winking eye
\u{1F92A} zany face
\u{1F61D} squinting face with tongue,stuck out tongue closed eyes
\u{1F911} money-mouth face
\u{1F917} smiling face with open hands,hugs
\u{1F92D} face with hand over mouth
\u{1FAE2} face with open eyes and hand over mouth
\u{1FAE3} face with peeking eye
\u{1F92B} shushing face
\u{1F914} thinking face
\u{1FAE1} saluting face
\u{1F910} zipper-mouth face
\u{1F928} face with raised eyebrow
\u{1F610} neutral face
\u{1F611} expressionless face
\u{1F636} face without mouth,no mouth
\u{1FAE5} dotted line face
\u{1F636}\u200D\u{1F32B}\uFE0F face in clouds
\u{1F60F} smirking face
\u{1F612} unamused face
\u{1F644} face with rolling eyes
\u{1F62C} grimacing face
\u{1F62E}\u200D\u{1F4A8} face exhaling
\u{1F925} lying face
\u{1FAE8} shaking face
\u{1F60C} relieved face
\u{1F614} pensive face
\u{1F62A} sleepy face
\u{1F924} drooling face
\u{1F634} sleeping face
\u{1F637} face with medical mask
\u{1F912} face with thermometer
\u{1F915} face with head-bandage
\u{1F922} nauseated face
\u{1F92E} face vomiting
\u{1F927} sneezing face
\u{1F975} hot face
\u{1F976} cold face
\u{1F974} woozy face
\u{1F635} face with crossed-out eyes,dizzy face
\u{1F635}\u200D\u{1F4AB} face with spiral eyes
\u{1F92F} exploding head
\u{1F920} cowboy hat face
\u{1F973} partying face
\u{1F978} disguised face
\u{1F60E} smiling face with sunglasses
\u{1F913} nerd face
\u{1F9D0} face with monocle
\u{1F615} confused face
\u{1FAE4} face with diagonal mouth
\u{1F61F} worried face
\u{1F641} slightly frowning face
\u2639\uFE0F frowning face
\u{1F62E} face with open mouth
\u{1F62F} hushed face
\u{1F632} astonished face
\u{1F633} flushed face
\u{1F97A} pleading face
\u{1F979} face holding back tears
\u{1F626} frowning face with open mouth
\u{1F627} anguished face
\u{1F628} fearful face
\u{1F630} anxious face with sweat,cold sweat
\u{1F625} sad but relieved face,disappointed relieved
\u{1F622} crying face
\u{1F62D} loudly crying face,sob
\u{1F631} face screaming in fear
\u{1F616} confounded face
\u{1F623} persevering face,persevere
\u{1F61E} disappointed face
\u{1F613} downcast face with sweat
\u{1F629} weary face
\u{1F62B} tired face
\u{1F971} yawning face
\u{1F624} face with steam from nose,triumph
\u{1F621} enraged face,pout,rage
\u{1F620} angry face
\u{1F92C} face with symbols on mouth,cursing face
\u{1F608} smiling face with horns,smiling imp
\u{1F47F} angry face with horns,imp
\u{1F480} skull
\u2620\uFE0F skull and crossbones
\u{1F4A9} pile of poo,hankey,shit
\u{1F921} clown face
\u{1F479} ogre,japanese ogre
\u{1F47A} goblin,japanese goblin
\u{1F47B} ghost
\u{1F47D} alien
\u{1F47E} alien monster,space invader
\u{1F916} robot
\u{1F63A} grinning cat,smiley cat
\u{1F638} grinning cat with smiling eyes,smile cat
\u{1F639} cat with tears of joy
\u{1F63B} smiling cat with heart-eyes
\u{1F63C} cat with wry smile,smirk cat
\u{1F63D} kissing cat
\u{1F640} weary cat,scream cat
\u{1F63F} crying cat,crying cat face
\u{1F63E} pouting cat
\u{1F648} see-no-evil monkey
\u{1F649} hear-no-evil monkey
\u{1F64A} speak-no-evil monkey
\u{1F48C} love letter
\u{1F498} heart with arrow,cupid
\u{1F49D} heart with ribbon,gift heart
\u{1F496} sparkling heart
\u{1F497} growing heart
\u{1F493} beating heart
\u{1F49E} revolving hearts
\u{1F495} two hearts
\u{1F49F} heart decoration
\u2763\uFE0F heart exclamation,heavy heart exclamation
\u{1F494} broken heart
\u2764\uFE0F\u200D\u{1F525} heart on fire
\u2764\uFE0F\u200D\u{1FA79} mending heart
\u2764\uFE0F red heart
\u{1FA77} pink heart
\u{1F9E1} orange heart
\u{1F49B} yellow heart
\u{1F49A} green heart
\u{1F499} blue heart
\u{1FA75} light blue heart
\u{1F49C} purple heart
\u{1F90E} brown heart
\u{1F5A4} black heart
\u{1FA76} grey heart
\u{1F90D} white heart
\u{1F48B} kiss mark
\u{1F4AF} hundred points,100
\u{1F4A2} anger symbol
\u{1F4A5} collision,boom
\u{1F4AB} dizzy
\u{1F4A6} sweat droplets,sweat drops
\u{1F4A8} dashing away
\u{1F573}\uFE0F hole
\u{1F4AC} speech balloon
\u{1F441}\uFE0F\u200D\u{1F5E8}\uFE0F eye in speech bubble
\u{1F5E8}\uFE0F left speech bubble
\u{1F5EF}\uFE0F right anger bubble
\u{1F4AD} thought balloon
\u{1F4A4} zzz

\u{1F44B}* waving hand,wave
\u{1F91A}* raised back of hand
\u{1F590}\uFE0F* hand with fingers splayed,raised hand with fingers splayed
\u270B* raised hand
\u{1F596}* vulcan salute
\u{1FAF1}* rightwards hand
\u{1FAF2}* leftwards hand
\u{1FAF3}* palm down hand
\u{1FAF4}* palm up hand
\u{1FAF7}* leftwards pushing hand
\u{1FAF8}* rightwards pushing hand
\u{1F44C}* ok hand
\u{1F90C}* pinched fingers
\u{1F90F}* pinching hand
\u270C\uFE0F* victory hand
\u{1F91E}* crossed fingers
\u{1FAF0}* hand with index finger and thumb crossed
\u{1F91F}* love-you gesture
\u{1F918}* sign of the horns,metal
\u{1F919}* call me hand
\u{1F448}* backhand index pointing left
\u{1F449}* backhand index pointing right
\u{1F446}* backhand index pointing up,point up 2
\u{1F595}* middle finger,fu
\u{1F447}* backhand index pointing down
\u261D\uFE0F* index pointing up
\u{1FAF5}* index pointing at the viewer
\u{1F44D}* thumbs up,+1
\u{1F44E}* thumbs down,-1
\u270A* raised fist
\u{1F44A}* oncoming fist,facepunch,punch
\u{1F91B}* left-facing fist
\u{1F91C}* right-facing fist
\u{1F44F}* clapping hands
\u{1F64C}* raising hands,raised hands
\u{1FAF6}* heart hands
\u{1F450}* open hands
\u{1F932}* palms up together
\u{1F91D}* handshake
\u{1F64F}* folded hands,pray
\u270D\uFE0F* writing hand
\u{1F485}* nail polish,nail care
\u{1F933}* selfie
\u{1F4AA}* flexed biceps,muscle
\u{1F9BE} mechanical arm
\u{1F9BF} mechanical leg
\u{1F9B5}* leg
\u{1F9B6}* foot
\u{1F442}* ear
\u{1F9BB}* ear with hearing aid
\u{1F443}* nose
\u{1F9E0} brain
\u{1FAC0} anatomical heart
\u{1FAC1} lungs
\u{1F9B7} tooth
\u{1F9B4} bone
\u{1F440} eyes
\u{1F441}\uFE0F eye
\u{1F445} tongue
\u{1F444} mouth,lips
\u{1FAE6} biting lip
\u{1F476}* baby
\u{1F9D2}* child
\u{1F466}* boy
\u{1F467}* girl
\u{1F9D1}* person,adult
\u{1F471}* person: blond hair
\u{1F468}* man
\u{1F9D4}* person: beard
\u{1F9D4}\u200D\u2642\uFE0F* man: beard
\u{1F9D4}\u200D\u2640\uFE0F* woman: beard
\u{1F468}\u200D\u{1F9B0}* man: red hair
\u{1F468}\u200D\u{1F9B1}* man: curly hair
\u{1F468}\u200D\u{1F9B3}* man: white hair
\u{1F468}\u200D\u{1F9B2}* man: bald
\u{1F469}* woman
\u{1F469}\u200D\u{1F9B0}* woman: red hair
\u{1F9D1}\u200D\u{1F9B0}* person: red hair
\u{1F469}\u200D\u{1F9B1}* woman: curly hair
\u{1F9D1}\u200D\u{1F9B1}* person: curly hair
\u{1F469}\u200D\u{1F9B3}* woman: white hair
\u{1F9D1}\u200D\u{1F9B3}* person: white hair
\u{1F469}\u200D\u{1F9B2}* woman: bald
\u{1F9D1}\u200D\u{1F9B2}* person: bald
\u{1F471}\u200D\u2640\uFE0F* woman: blond hair
\u{1F471}\u200D\u2642\uFE0F* man: blond hair
\u{1F9D3}* older person,older adult
\u{1F474}* old man
\u{1F475}* old woman
\u{1F64D}* person frowning
\u{1F64D}\u200D\u2642\uFE0F* man frowning
\u{1F64D}\u200D\u2640\uFE0F* woman frowning
\u{1F64E}* person pouting,pouting face
\u{1F64E}\u200D\u2642\uFE0F* man pouting
\u{1F64E}\u200D\u2640\uFE0F* woman pouting
\u{1F645}* person gesturing no,no good
\u{1F645}\u200D\u2642\uFE0F* man gesturing no,ng man,no good man
\u{1F645}\u200D\u2640\uFE0F* woman gesturing no,ng woman,no good woman
\u{1F646}* person gesturing ok
\u{1F646}\u200D\u2642\uFE0F* man gesturing ok
\u{1F646}\u200D\u2640\uFE0F* woman gesturing ok
\u{1F481}* person tipping hand,information desk person
\u{1F481}\u200D\u2642\uFE0F* man tipping hand,sassy man
\u{1F481}\u200D\u2640\uFE0F* woman tipping hand,sassy woman
\u{1F64B}* person raising hand
\u{1F64B}\u200D\u2642\uFE0F* man raising hand
\u{1F64B}\u200D\u2640\uFE0F* woman raising hand
\u{1F9CF}* deaf person
\u{1F9CF}\u200D\u2642\uFE0F* deaf man
\u{1F9CF}\u200D\u2640\uFE0F* deaf woman
\u{1F647}* person bowing
\u{1F647}\u200D\u2642\uFE0F* man bowing
\u{1F647}\u200D\u2640\uFE0F* woman bowing
\u{1F926}* person facepalming
\u{1F926}\u200D\u2642\uFE0F* man facepalming
\u{1F926}\u200D\u2640\uFE0F* woman facepalming
\u{1F937}* person shrugging
\u{1F937}\u200D\u2642\uFE0F* man shrugging
\u{1F937}\u200D\u2640\uFE0F* woman shrugging
\u{1F9D1}\u200D\u2695\uFE0F* health worker
\u{1F468}\u200D\u2695\uFE0F* man health worker
\u{1F469}\u200D\u2695\uFE0F* woman health worker
\u{1F9D1}\u200D\u{1F393}* student
\u{1F468}\u200D\u{1F393}* man student
\u{1F469}\u200D\u{1F393}* woman student
\u{1F9D1}\u200D\u{1F3EB}* teacher
\u{1F468}\u200D\u{1F3EB}* man teacher
\u{1F469}\u200D\u{1F3EB}* woman teacher
\u{1F9D1}\u200D\u2696\uFE0F* judge
\u{1F468}\u200D\u2696\uFE0F* man judge
\u{1F469}\u200D\u2696\uFE0F* woman judge
\u{1F9D1}\u200D\u{1F33E}* farmer
\u{1F468}\u200D\u{1F33E}* man farmer
\u{1F469}\u200D\u{1F33E}* woman farmer
\u{1F9D1}\u200D\u{1F373}* cook
\u{1F468}\u200D\u{1F373}* man cook
\u{1F469}\u200D\u{1F373}* woman cook
\u{1F9D1}\u200D\u{1F527}* mechanic
\u{1F468}\u200D\u{1F527}* man mechanic
\u{1F469}\u200D\u{1F527}* woman mechanic
\u{1F9D1}\u200D\u{1F3ED}* factory worker
\u{1F468}\u200D\u{1F3ED}* man factory worker
\u{1F469}\u200D\u{1F3ED}* woman factory worker
\u{1F9D1}\u200D\u{1F4BC}* office worker
\u{1F468}\u200D\u{1F4BC}* man office worker
\u{1F469}\u200D\u{1F4BC}* woman office worker
\u{1F9D1}\u200D\u{1F52C}* scientist
\u{1F468}\u200D\u{1F52C}* man scientist
\u{1F469}\u200D\u{1F52C}* woman scientist
\u{1F9D1}\u200D\u{1F4BB}* technologist
\u{1F468}\u200D\u{1F4BB}* man technologist
\u{1F469}\u200D\u{1F4BB}* woman technologist
\u{1F9D1}\u200D\u{1F3A4}* singer
\u{1F468}\u200D\u{1F3A4}* man singer
\u{1F469}\u200D\u{1F3A4}* woman singer
\u{1F9D1}\u200D\u{1F3A8}* artist
\u{1F468}\u200D\u{1F3A8}* man artist
\u{1F469}\u200D\u{1F3A8}* woman artist
\u{1F9D1}\u200D\u2708\uFE0F* pilot
\u{1F468}\u200D\u2708\uFE0F* man pilot
\u{1F469}\u200D\u2708\uFE0F* woman pilot
\u{1F9D1}\u200D\u{1F680}* astronaut
\u{1F468}\u200D\u{1F680}* man astronaut
\u{1F469}\u200D\u{1F680}* woman astronaut
\u{1F9D1}\u200D\u{1F692}* firefighter
\u{1F468}\u200D\u{1F692}* man firefighter
\u{1F469}\u200D\u{1F692}* woman firefighter
\u{1F46E}* police officer,cop
\u{1F46E}\u200D\u2642\uFE0F* man police officer
\u{1F46E}\u200D\u2640\uFE0F* woman police officer
\u{1F575}\uFE0F* detective
\u{1F575}\uFE0F\u200D\u2642\uFE0F* man detective,male detective
\u{1F575}\uFE0F\u200D\u2640\uFE0F* woman detective,female detective
\u{1F482}* guard
\u{1F482}\u200D\u2642\uFE0F* man guard
\u{1F482}\u200D\u2640\uFE0F* woman guard
\u{1F977}* ninja
\u{1F477}* construction worker
\u{1F477}\u200D\u2642\uFE0F* man construction worker
\u{1F477}\u200D\u2640\uFE0F* woman construction worker
\u{1FAC5}* person with crown
\u{1F934}* prince
\u{1F478}* princess
\u{1F473}* person wearing turban,person with turban
\u{1F473}\u200D\u2642\uFE0F* man wearing turban,man with turban
\u{1F473}\u200D\u2640\uFE0F* woman wearing turban,woman with turban
\u{1F472}* person with skullcap,man with gua pi mao
\u{1F9D5}* woman with headscarf
\u{1F935}* person in tuxedo
\u{1F935}\u200D\u2642\uFE0F* man in tuxedo
\u{1F935}\u200D\u2640\uFE0F* woman in tuxedo
\u{1F470}* person with veil
\u{1F470}\u200D\u2642\uFE0F* man with veil
\u{1F470}\u200D\u2640\uFE0F* woman with veil,bride with veil
\u{1F930}* pregnant woman
\u{1FAC3}* pregnant man
\u{1FAC4}* pregnant person
\u{1F931}* breast-feeding
\u{1F469}\u200D\u{1F37C}* woman feeding baby
\u{1F468}\u200D\u{1F37C}* man feeding baby
\u{1F9D1}\u200D\u{1F37C}* person feeding baby
\u{1F47C}* baby angel
\u{1F385}* santa claus
\u{1F936}* mrs. claus
\u{1F9D1}\u200D\u{1F384}* mx claus
\u{1F9B8}* superhero
\u{1F9B8}\u200D\u2642\uFE0F* man superhero
\u{1F9B8}\u200D\u2640\uFE0F* woman superhero
\u{1F9B9}* supervillain
\u{1F9B9}\u200D\u2642\uFE0F* man supervillain
\u{1F9B9}\u200D\u2640\uFE0F* woman supervillain
\u{1F9D9}* mage
\u{1F9D9}\u200D\u2642\uFE0F* man mage
\u{1F9D9}\u200D\u2640\uFE0F* woman mage
\u{1F9DA}* fairy
\u{1F9DA}\u200D\u2642\uFE0F* man fairy
\u{1F9DA}\u200D\u2640\uFE0F* woman fairy
\u{1F9DB}* vampire
\u{1F9DB}\u200D\u2642\uFE0F* man vampire
\u{1F9DB}\u200D\u2640\uFE0F* woman vampire
\u{1F9DC}* merperson
\u{1F9DC}\u200D\u2642\uFE0F* merman
\u{1F9DC}\u200D\u2640\uFE0F* mermaid
\u{1F9DD}* elf
\u{1F9DD}\u200D\u2642\uFE0F* man elf
\u{1F9DD}\u200D\u2640\uFE0F* woman elf
\u{1F9DE} genie
\u{1F9DE}\u200D\u2642\uFE0F man genie
\u{1F9DE}\u200D\u2640\uFE0F woman genie
\u{1F9DF} zombie
\u{1F9DF}\u200D\u2642\uFE0F man zombie
\u{1F9DF}\u200D\u2640\uFE0F woman zombie
\u{1F9CC} troll
\u{1F486}* person getting massage
\u{1F486}\u200D\u2642\uFE0F* man getting massage
\u{1F486}\u200D\u2640\uFE0F* woman getting massage
\u{1F487}* person getting haircut
\u{1F487}\u200D\u2642\uFE0F* man getting haircut
\u{1F487}\u200D\u2640\uFE0F* woman getting haircut
\u{1F6B6}* person walking
\u{1F6B6}\u200D\u2642\uFE0F* man walking
\u{1F6B6}\u200D\u2640\uFE0F* woman walking
\u{1F9CD}* person standing
\u{1F9CD}\u200D\u2642\uFE0F* man standing
\u{1F9CD}\u200D\u2640\uFE0F* woman standing
\u{1F9CE}* person kneeling
\u{1F9CE}\u200D\u2642\uFE0F* man kneeling
\u{1F9CE}\u200D\u2640\uFE0F* woman kneeling
\u{1F9D1}\u200D\u{1F9AF}* person with white cane,person with probing cane
\u{1F468}\u200D\u{1F9AF}* man with white cane,man with probing cane
\u{1F469}\u200D\u{1F9AF}* woman with white cane,woman with probing cane
\u{1F9D1}\u200D\u{1F9BC}* person in motorized wheelchair
\u{1F468}\u200D\u{1F9BC}* man in motorized wheelchair
\u{1F469}\u200D\u{1F9BC}* woman in motorized wheelchair
\u{1F9D1}\u200D\u{1F9BD}* person in manual wheelchair
\u{1F468}\u200D\u{1F9BD}* man in manual wheelchair
\u{1F469}\u200D\u{1F9BD}* woman in manual wheelchair
\u{1F3C3}* person running,runner
\u{1F3C3}\u200D\u2642\uFE0F* man running
\u{1F3C3}\u200D\u2640\uFE0F* woman running
\u{1F483}* woman dancing,dancer
\u{1F57A}* man dancing
\u{1F574}\uFE0F* person in suit levitating,business suit levitating
\u{1F46F}* people with bunny ears,dancers
\u{1F46F}\u200D\u2642\uFE0F* men with bunny ears,dancing men
\u{1F46F}\u200D\u2640\uFE0F* women with bunny ears,dancing women
\u{1F9D6}* person in steamy room,sauna person
\u{1F9D6}\u200D\u2642\uFE0F* man in steamy room,sauna man
\u{1F9D6}\u200D\u2640\uFE0F* woman in steamy room,sauna woman
\u{1F9D7}* person climbing
\u{1F9D7}\u200D\u2642\uFE0F* man climbing
\u{1F9D7}\u200D\u2640\uFE0F* woman climbing
\u{1F93A} person fencing
\u{1F3C7}* horse racing
\u26F7\uFE0F skier
\u{1F3C2}* snowboarder
\u{1F3CC}\uFE0F* person golfing
\u{1F3CC}\uFE0F\u200D\u2642\uFE0F* man golfing
\u{1F3CC}\uFE0F\u200D\u2640\uFE0F* woman golfing
\u{1F3C4}* person surfing,surfer
\u{1F3C4}\u200D\u2642\uFE0F* man surfing
\u{1F3C4}\u200D\u2640\uFE0F* woman surfing
\u{1F6A3}* person rowing boat,rowboat
\u{1F6A3}\u200D\u2642\uFE0F* man rowing boat
\u{1F6A3}\u200D\u2640\uFE0F* woman rowing boat
\u{1F3CA}* person swimming,swimmer
\u{1F3CA}\u200D\u2642\uFE0F* man swimming
\u{1F3CA}\u200D\u2640\uFE0F* woman swimming
\u26F9\uFE0F* person bouncing ball
\u26F9\uFE0F\u200D\u2642\uFE0F* man bouncing ball,basketball man
\u26F9\uFE0F\u200D\u2640\uFE0F* woman bouncing ball,basketball woman
\u{1F3CB}\uFE0F* person lifting weights
\u{1F3CB}\uFE0F\u200D\u2642\uFE0F* man lifting weights
\u{1F3CB}\uFE0F\u200D\u2640\uFE0F* woman lifting weights
\u{1F6B4}* person biking,bicyclist
\u{1F6B4}\u200D\u2642\uFE0F* man biking
\u{1F6B4}\u200D\u2640\uFE0F* woman biking
\u{1F6B5}* person mountain biking,mountain bicyclist
\u{1F6B5}\u200D\u2642\uFE0F* man mountain biking
\u{1F6B5}\u200D\u2640\uFE0F* woman mountain biking
\u{1F938}* person cartwheeling
\u{1F938}\u200D\u2642\uFE0F* man cartwheeling
\u{1F938}\u200D\u2640\uFE0F* woman cartwheeling
\u{1F93C}* people wrestling
\u{1F93C}\u200D\u2642\uFE0F* men wrestling
\u{1F93C}\u200D\u2640\uFE0F* women wrestling
\u{1F93D}* person playing water polo
\u{1F93D}\u200D\u2642\uFE0F* man playing water polo
\u{1F93D}\u200D\u2640\uFE0F* woman playing water polo
\u{1F93E}* person playing handball
\u{1F93E}\u200D\u2642\uFE0F* man playing handball
\u{1F93E}\u200D\u2640\uFE0F* woman playing handball
\u{1F939}* person juggling
\u{1F939}\u200D\u2642\uFE0F* man juggling
\u{1F939}\u200D\u2640\uFE0F* woman juggling
\u{1F9D8}* person in lotus position
\u{1F9D8}\u200D\u2642\uFE0F* man in lotus position
\u{1F9D8}\u200D\u2640\uFE0F* woman in lotus position
\u{1F6C0}* person taking bath
\u{1F6CC}* person in bed,sleeping bed
\u{1F9D1}\u200D\u{1F91D}\u200D\u{1F9D1} people holding hands
\u{1F46D}* women holding hands,two women holding hands
\u{1F46B}* woman and man holding hands,couple
\u{1F46C}* men holding hands,two men holding hands
\u{1F48F}* kiss,couplekiss
\u{1F469}\u200D\u2764\uFE0F\u200D\u{1F48B}\u200D\u{1F468} kiss: woman, man,couplekiss man woman
\u{1F468}\u200D\u2764\uFE0F\u200D\u{1F48B}\u200D\u{1F468} kiss: man, man,couplekiss man man
\u{1F469}\u200D\u2764\uFE0F\u200D\u{1F48B}\u200D\u{1F469} kiss: woman, woman,couplekiss woman woman
\u{1F491}* couple with heart
\u{1F469}\u200D\u2764\uFE0F\u200D\u{1F468} couple with heart: woman, man
\u{1F468}\u200D\u2764\uFE0F\u200D\u{1F468} couple with heart: man, man
\u{1F469}\u200D\u2764\uFE0F\u200D\u{1F469} couple with heart: woman, woman
\u{1F468}\u200D\u{1F469}\u200D\u{1F466} family: man, woman, boy
\u{1F468}\u200D\u{1F469}\u200D\u{1F467} family: man, woman, girl
\u{1F468}\u200D\u{1F469}\u200D\u{1F467}\u200D\u{1F466} family: man, woman, girl, boy
\u{1F468}\u200D\u{1F469}\u200D\u{1F466}\u200D\u{1F466} family: man, woman, boy, boy
\u{1F468}\u200D\u{1F469}\u200D\u{1F467}\u200D\u{1F467} family: man, woman, girl, girl
\u{1F468}\u200D\u{1F468}\u200D\u{1F466} family: man, man, boy
\u{1F468}\u200D\u{1F468}\u200D\u{1F467} family: man, man, girl
\u{1F468}\u200D\u{1F468}\u200D\u{1F467}\u200D\u{1F466} family: man, man, girl, boy
\u{1F468}\u200D\u{1F468}\u200D\u{1F466}\u200D\u{1F466} family: man, man, boy, boy
\u{1F468}\u200D\u{1F468}\u200D\u{1F467}\u200D\u{1F467} family: man, man, girl, girl
\u{1F469}\u200D\u{1F469}\u200D\u{1F466} family: woman, woman, boy
\u{1F469}\u200D\u{1F469}\u200D\u{1F467} family: woman, woman, girl
\u{1F469}\u200D\u{1F469}\u200D\u{1F467}\u200D\u{1F466} family: woman, woman, girl, boy
\u{1F469}\u200D\u{1F469}\u200D\u{1F466}\u200D\u{1F466} family: woman, woman, boy, boy
\u{1F469}\u200D\u{1F469}\u200D\u{1F467}\u200D\u{1F467} family: woman, woman, girl, girl
\u{1F468}\u200D\u{1F466} family: man, boy
\u{1F468}\u200D\u{1F466}\u200D\u{1F466} family: man, boy, boy
\u{1F468}\u200D\u{1F467} family: man, girl
\u{1F468}\u200D\u{1F467}\u200D\u{1F466} family: man, girl, boy
\u{1F468}\u200D\u{1F467}\u200D\u{1F467} family: man, girl, girl
\u{1F469}\u200D\u{1F466} family: woman, boy
\u{1F469}\u200D\u{1F466}\u200D\u{1F466} family: woman, boy, boy
\u{1F469}\u200D\u{1F467} family: woman, girl
\u{1F469}\u200D\u{1F467}\u200D\u{1F466} family: woman, girl, boy
\u{1F469}\u200D\u{1F467}\u200D\u{1F467} family: woman, girl, girl
\u{1F5E3}\uFE0F speaking head
\u{1F464} bust in silhouette
\u{1F465} busts in silhouette
\u{1FAC2} people hugging
\u{1F46A} family
\u{1F463} footprints

\u{1F435} monkey face
\u{1F412} monkey
\u{1F98D} gorilla
\u{1F9A7} orangutan
\u{1F436} dog face
\u{1F415} dog
\u{1F9AE} guide dog
\u{1F415}\u200D\u{1F9BA} service dog
\u{1F429} poodle
\u{1F43A} wolf
\u{1F98A} fox,fox face
\u{1F99D} raccoon
\u{1F431} cat face
\u{1F408} cat
\u{1F408}\u200D\u2B1B black cat
\u{1F981} lion
\u{1F42F} tiger face
\u{1F405} tiger
\u{1F406} leopard
\u{1F434} horse face
\u{1FACE} moose
\u{1FACF} donkey
\u{1F40E} horse,racehorse
\u{1F984} unicorn
\u{1F993} zebra
\u{1F98C} deer
\u{1F9AC} bison
\u{1F42E} cow face
\u{1F402} ox
\u{1F403} water buffalo
\u{1F404} cow
\u{1F437} pig face
\u{1F416} pig
\u{1F417} boar
\u{1F43D} pig nose
\u{1F40F} ram
\u{1F411} ewe,sheep
\u{1F410} goat
\u{1F42A} camel,dromedary camel
\u{1F42B} two-hump camel
\u{1F999} llama
\u{1F992} giraffe
\u{1F418} elephant
\u{1F9A3} mammoth
\u{1F98F} rhinoceros
\u{1F99B} hippopotamus
\u{1F42D} mouse face
\u{1F401} mouse
\u{1F400} rat
\u{1F439} hamster
\u{1F430} rabbit face
\u{1F407} rabbit
\u{1F43F}\uFE0F chipmunk
\u{1F9AB} beaver
\u{1F994} hedgehog
\u{1F987} bat
\u{1F43B} bear
\u{1F43B}\u200D\u2744\uFE0F polar bear
\u{1F428} koala
\u{1F43C} panda,panda face
\u{1F9A5} sloth
\u{1F9A6} otter
\u{1F9A8} skunk
\u{1F998} kangaroo
\u{1F9A1} badger
\u{1F43E} paw prints,feet
\u{1F983} turkey
\u{1F414} chicken
\u{1F413} rooster
\u{1F423} hatching chick
\u{1F424} baby chick
\u{1F425} front-facing baby chick,hatched chick
\u{1F426} bird
\u{1F427} penguin
\u{1F54A}\uFE0F dove
\u{1F985} eagle
\u{1F986} duck
\u{1F9A2} swan
\u{1F989} owl
\u{1F9A4} dodo
\u{1FAB6} feather
\u{1F9A9} flamingo
\u{1F99A} peacock
\u{1F99C} parrot
\u{1FABD} wing
\u{1F426}\u200D\u2B1B black bird
\u{1FABF} goose
\u{1F438} frog
\u{1F40A} crocodile
\u{1F422} turtle
\u{1F98E} lizard
\u{1F40D} snake
\u{1F432} dragon face
\u{1F409} dragon
\u{1F995} sauropod
\u{1F996} t-rex
\u{1F433} spouting whale
\u{1F40B} whale
\u{1F42C} dolphin,flipper
\u{1F9AD} seal
\u{1F41F} fish
\u{1F420} tropical fish
\u{1F421} blowfish
\u{1F988} shark
\u{1F419} octopus
\u{1F41A} spiral shell
\u{1FAB8} coral
\u{1FABC} jellyfish
\u{1F980} crab
\u{1F99E} lobster
\u{1F990} shrimp
\u{1F991} squid
\u{1F9AA} oyster
\u{1F40C} snail
\u{1F98B} butterfly
\u{1F41B} bug
\u{1F41C} ant
\u{1F41D} honeybee,bee
\u{1FAB2} beetle
\u{1F41E} lady beetle
\u{1F997} cricket
\u{1FAB3} cockroach
\u{1F577}\uFE0F spider
\u{1F578}\uFE0F spider web
\u{1F982} scorpion
\u{1F99F} mosquito
\u{1FAB0} fly
\u{1FAB1} worm
\u{1F9A0} microbe
\u{1F490} bouquet
\u{1F338} cherry blossom
\u{1F4AE} white flower
\u{1FAB7} lotus
\u{1F3F5}\uFE0F rosette
\u{1F339} rose
\u{1F940} wilted flower
\u{1F33A} hibiscus
\u{1F33B} sunflower
\u{1F33C} blossom
\u{1F337} tulip
\u{1FABB} hyacinth
\u{1F331} seedling
\u{1FAB4} potted plant
\u{1F332} evergreen tree
\u{1F333} deciduous tree
\u{1F334} palm tree
\u{1F335} cactus
\u{1F33E} sheaf of rice,ear of rice
\u{1F33F} herb
\u2618\uFE0F shamrock
\u{1F340} four leaf clover
\u{1F341} maple leaf
\u{1F342} fallen leaf
\u{1F343} leaf fluttering in wind,leaves
\u{1FAB9} empty nest
\u{1FABA} nest with eggs
\u{1F344} mushroom

\u{1F347} grapes
\u{1F348} melon
\u{1F349} watermelon
\u{1F34A} tangerine,mandarin,orange
\u{1F34B} lemon
\u{1F34C} banana
\u{1F34D} pineapple
\u{1F96D} mango
\u{1F34E} red apple
\u{1F34F} green apple
\u{1F350} pear
\u{1F351} peach
\u{1F352} cherries
\u{1F353} strawberry
\u{1FAD0} blueberries
\u{1F95D} kiwi fruit
\u{1F345} tomato
\u{1FAD2} olive
\u{1F965} coconut
\u{1F951} avocado
\u{1F346} eggplant
\u{1F954} potato
\u{1F955} carrot
\u{1F33D} ear of corn
\u{1F336}\uFE0F hot pepper
\u{1FAD1} bell pepper
\u{1F952} cucumber
\u{1F96C} leafy green
\u{1F966} broccoli
\u{1F9C4} garlic
\u{1F9C5} onion
\u{1F95C} peanuts
\u{1FAD8} beans
\u{1F330} chestnut
\u{1FADA} ginger root
\u{1FADB} pea pod
\u{1F35E} bread
\u{1F950} croissant
\u{1F956} baguette bread
\u{1FAD3} flatbread
\u{1F968} pretzel
\u{1F96F} bagel
\u{1F95E} pancakes
\u{1F9C7} waffle
\u{1F9C0} cheese wedge
\u{1F356} meat on bone
\u{1F357} poultry leg
\u{1F969} cut of meat
\u{1F953} bacon
\u{1F354} hamburger
\u{1F35F} french fries
\u{1F355} pizza
\u{1F32D} hot dog
\u{1F96A} sandwich
\u{1F32E} taco
\u{1F32F} burrito
\u{1FAD4} tamale
\u{1F959} stuffed flatbread
\u{1F9C6} falafel
\u{1F95A} egg
\u{1F373} cooking,fried egg
\u{1F958} shallow pan of food
\u{1F372} pot of food,stew
\u{1FAD5} fondue
\u{1F963} bowl with spoon
\u{1F957} green salad
\u{1F37F} popcorn
\u{1F9C8} butter
\u{1F9C2} salt
\u{1F96B} canned food
\u{1F371} bento box
\u{1F358} rice cracker
\u{1F359} rice ball
\u{1F35A} cooked rice
\u{1F35B} curry rice
\u{1F35C} steaming bowl,ramen
\u{1F35D} spaghetti
\u{1F360} roasted sweet potato
\u{1F362} oden
\u{1F363} sushi
\u{1F364} fried shrimp
\u{1F365} fish cake with swirl
\u{1F96E} moon cake
\u{1F361} dango
\u{1F95F} dumpling
\u{1F960} fortune cookie
\u{1F961} takeout box
\u{1F366} soft ice cream
\u{1F367} shaved ice
\u{1F368} ice cream
\u{1F369} doughnut
\u{1F36A} cookie
\u{1F382} birthday cake
\u{1F370} shortcake,cake
\u{1F9C1} cupcake
\u{1F967} pie
\u{1F36B} chocolate bar
\u{1F36C} candy
\u{1F36D} lollipop
\u{1F36E} custard
\u{1F36F} honey pot
\u{1F37C} baby bottle
\u{1F95B} glass of milk
\u2615 hot beverage,coffee
\u{1FAD6} teapot
\u{1F375} teacup without handle
\u{1F376} sake
\u{1F37E} bottle with popping cork,champagne
\u{1F377} wine glass
\u{1F378} cocktail glass
\u{1F379} tropical drink
\u{1F37A} beer mug
\u{1F37B} clinking beer mugs
\u{1F942} clinking glasses
\u{1F943} tumbler glass
\u{1FAD7} pouring liquid
\u{1F964} cup with straw
\u{1F9CB} bubble tea
\u{1F9C3} beverage box
\u{1F9C9} mate
\u{1F9CA} ice,ice cube
\u{1F962} chopsticks
\u{1F37D}\uFE0F fork and knife with plate,plate with cutlery
\u{1F374} fork and knife
\u{1F944} spoon
\u{1F52A} kitchen knife,hocho
\u{1FAD9} jar
\u{1F3FA} amphora

\u{1F30D} globe showing europe-africa,earth africa
\u{1F30E} globe showing americas,earth americas
\u{1F30F} globe showing asia-australia,earth asia
\u{1F310} globe with meridians
\u{1F5FA}\uFE0F world map
\u{1F5FE} map of japan
\u{1F9ED} compass
\u{1F3D4}\uFE0F snow-capped mountain
\u26F0\uFE0F mountain
\u{1F30B} volcano
\u{1F5FB} mount fuji
\u{1F3D5}\uFE0F camping
\u{1F3D6}\uFE0F beach with umbrella
\u{1F3DC}\uFE0F desert
\u{1F3DD}\uFE0F desert island
\u{1F3DE}\uFE0F national park
\u{1F3DF}\uFE0F stadium
\u{1F3DB}\uFE0F classical building
\u{1F3D7}\uFE0F building construction
\u{1F9F1} brick
\u{1FAA8} rock
\u{1FAB5} wood
\u{1F6D6} hut
\u{1F3D8}\uFE0F houses
\u{1F3DA}\uFE0F derelict house
\u{1F3E0} house
\u{1F3E1} house with garden
\u{1F3E2} office building
\u{1F3E3} japanese post office
\u{1F3E4} post office,european post office
\u{1F3E5} hospital
\u{1F3E6} bank
\u{1F3E8} hotel
\u{1F3E9} love hotel
\u{1F3EA} convenience store
\u{1F3EB} school
\u{1F3EC} department store
\u{1F3ED} factory
\u{1F3EF} japanese castle
\u{1F3F0} castle,european castle
\u{1F492} wedding
\u{1F5FC} tokyo tower
\u{1F5FD} statue of liberty
\u26EA church
\u{1F54C} mosque
\u{1F6D5} hindu temple
\u{1F54D} synagogue
\u26E9\uFE0F shinto shrine
\u{1F54B} kaaba
\u26F2 fountain
\u26FA tent
\u{1F301} foggy
\u{1F303} night with stars
\u{1F3D9}\uFE0F cityscape
\u{1F304} sunrise over mountains
\u{1F305} sunrise
\u{1F306} cityscape at dusk,city sunset
\u{1F307} sunset,city sunrise
\u{1F309} bridge at night
\u2668\uFE0F hot springs
\u{1F3A0} carousel horse
\u{1F6DD} playground slide
\u{1F3A1} ferris wheel
\u{1F3A2} roller coaster
\u{1F488} barber pole
\u{1F3AA} circus tent
\u{1F682} locomotive,steam locomotive
\u{1F683} railway car
\u{1F684} high-speed train,bullettrain side
\u{1F685} bullet train,bullettrain front
\u{1F686} train
\u{1F687} metro
\u{1F688} light rail
\u{1F689} station
\u{1F68A} tram
\u{1F69D} monorail
\u{1F69E} mountain railway
\u{1F68B} tram car,train
\u{1F68C} bus
\u{1F68D} oncoming bus
\u{1F68E} trolleybus
\u{1F690} minibus
\u{1F691} ambulance
\u{1F692} fire engine
\u{1F693} police car
\u{1F694} oncoming police car
\u{1F695} taxi
\u{1F696} oncoming taxi
\u{1F697} automobile,car,red car
\u{1F698} oncoming automobile
\u{1F699} sport utility vehicle,blue car
\u{1F6FB} pickup truck
\u{1F69A} delivery truck
\u{1F69B} articulated lorry
\u{1F69C} tractor
\u{1F3CE}\uFE0F racing car
\u{1F3CD}\uFE0F motorcycle
\u{1F6F5} motor scooter
\u{1F9BD} manual wheelchair
\u{1F9BC} motorized wheelchair
\u{1F6FA} auto rickshaw
\u{1F6B2} bicycle,bike
\u{1F6F4} kick scooter
\u{1F6F9} skateboard
\u{1F6FC} roller skate
\u{1F68F} bus stop
\u{1F6E3}\uFE0F motorway
\u{1F6E4}\uFE0F railway track
\u{1F6E2}\uFE0F oil drum
\u26FD fuel pump
\u{1F6DE} wheel
\u{1F6A8} police car light,rotating light
\u{1F6A5} horizontal traffic light
\u{1F6A6} vertical traffic light
\u{1F6D1} stop sign
\u{1F6A7} construction
\u2693 anchor
\u{1F6DF} ring buoy
\u26F5 sailboat,boat
\u{1F6F6} canoe
\u{1F6A4} speedboat
\u{1F6F3}\uFE0F passenger ship
\u26F4\uFE0F ferry
\u{1F6E5}\uFE0F motor boat
\u{1F6A2} ship
\u2708\uFE0F airplane
\u{1F6E9}\uFE0F small airplane
\u{1F6EB} airplane departure,flight departure
\u{1F6EC} airplane arrival,flight arrival
\u{1FA82} parachute
\u{1F4BA} seat
\u{1F681} helicopter
\u{1F69F} suspension railway
\u{1F6A0} mountain cableway
\u{1F6A1} aerial tramway
\u{1F6F0}\uFE0F satellite,artificial satellite
\u{1F680} rocket
\u{1F6F8} flying saucer
\u{1F6CE}\uFE0F bellhop bell
\u{1F9F3} luggage
\u231B hourglass done
\u23F3 hourglass not done,hourglass flowing sand
\u231A watch
\u23F0 alarm clock
\u23F1\uFE0F stopwatch
\u23F2\uFE0F timer clock
\u{1F570}\uFE0F mantelpiece clock
\u{1F55B} twelve o\u2019clock
\u{1F567} twelve-thirty
\u{1F550} one o\u2019clock
\u{1F55C} one-thirty
\u{1F551} two o\u2019clock
\u{1F55D} two-thirty
\u{1F552} three o\u2019clock
\u{1F55E} three-thirty
\u{1F553} four o\u2019clock
\u{1F55F} four-thirty
\u{1F554} five o\u2019clock
\u{1F560} five-thirty
\u{1F555} six o\u2019clock
\u{1F561} six-thirty
\u{1F556} seven o\u2019clock
\u{1F562} seven-thirty
\u{1F557} eight o\u2019clock
\u{1F563} eight-thirty
\u{1F558} nine o\u2019clock
\u{1F564} nine-thirty
\u{1F559} ten o\u2019clock
\u{1F565} ten-thirty
\u{1F55A} eleven o\u2019clock
\u{1F566} eleven-thirty
\u{1F311} new moon
\u{1F312} waxing crescent moon
\u{1F313} first quarter moon
\u{1F314} waxing gibbous moon
\u{1F315} full moon
\u{1F316} waning gibbous moon
\u{1F317} last quarter moon
\u{1F318} waning crescent moon
\u{1F319} crescent moon
\u{1F31A} new moon face,new moon with face
\u{1F31B} first quarter moon face,first quarter moon with face
\u{1F31C} last quarter moon face,last quarter moon with face
\u{1F321}\uFE0F thermometer
\u2600\uFE0F sun
\u{1F31D} full moon face,full moon with face
\u{1F31E} sun with face
\u{1FA90} ringed planet
\u2B50 star
\u{1F31F} glowing star
\u{1F320} shooting star
\u{1F30C} milky way
\u2601\uFE0F cloud
\u26C5 sun behind cloud,partly sunny
\u26C8\uFE0F cloud with lightning and rain
\u{1F324}\uFE0F sun behind small cloud
\u{1F325}\uFE0F sun behind large cloud
\u{1F326}\uFE0F sun behind rain cloud
\u{1F327}\uFE0F cloud with rain
\u{1F328}\uFE0F cloud with snow
\u{1F329}\uFE0F cloud with lightning
\u{1F32A}\uFE0F tornado
\u{1F32B}\uFE0F fog
\u{1F32C}\uFE0F wind face
\u{1F300} cyclone
\u{1F308} rainbow
\u{1F302} closed umbrella
\u2602\uFE0F umbrella,open umbrella
\u2614 umbrella with rain drops
\u26F1\uFE0F umbrella on ground,parasol on ground
\u26A1 high voltage,zap
\u2744\uFE0F snowflake
\u2603\uFE0F snowman,snowman with snow
\u26C4 snowman without snow
\u2604\uFE0F comet
\u{1F525} fire
\u{1F4A7} droplet
\u{1F30A} water wave,ocean

\u{1F383} jack-o-lantern
\u{1F384} christmas tree
\u{1F386} fireworks
\u{1F387} sparkler
\u{1F9E8} firecracker
\u2728 sparkles
\u{1F388} balloon
\u{1F389} party popper,tada
\u{1F38A} confetti ball
\u{1F38B} tanabata tree
\u{1F38D} pine decoration,bamboo
\u{1F38E} japanese dolls
\u{1F38F} carp streamer,flags
\u{1F390} wind chime
\u{1F391} moon viewing ceremony,rice scene
\u{1F9E7} red envelope
\u{1F380} ribbon
\u{1F381} wrapped gift
\u{1F397}\uFE0F reminder ribbon
\u{1F39F}\uFE0F admission tickets
\u{1F3AB} ticket
\u{1F396}\uFE0F military medal
\u{1F3C6} trophy
\u{1F3C5} sports medal
\u{1F947} 1st place medal
\u{1F948} 2nd place medal
\u{1F949} 3rd place medal
\u26BD soccer ball
\u26BE baseball
\u{1F94E} softball
\u{1F3C0} basketball
\u{1F3D0} volleyball
\u{1F3C8} american football
\u{1F3C9} rugby football
\u{1F3BE} tennis
\u{1F94F} flying disc
\u{1F3B3} bowling
\u{1F3CF} cricket game
\u{1F3D1} field hockey
\u{1F3D2} ice hockey
\u{1F94D} lacrosse
\u{1F3D3} ping pong
\u{1F3F8} badminton
\u{1F94A} boxing glove
\u{1F94B} martial arts uniform
\u{1F945} goal net
\u26F3 flag in hole,golf
\u26F8\uFE0F ice skate
\u{1F3A3} fishing pole,fishing pole and fish
\u{1F93F} diving mask
\u{1F3BD} running shirt,running shirt with sash
\u{1F3BF} skis
\u{1F6F7} sled
\u{1F94C} curling stone
\u{1F3AF} bullseye,dart
\u{1FA80} yo-yo
\u{1FA81} kite
\u{1F52B} water pistol,gun
\u{1F3B1} pool 8 ball
\u{1F52E} crystal ball
\u{1FA84} magic wand
\u{1F3AE} video game
\u{1F579}\uFE0F joystick
\u{1F3B0} slot machine
\u{1F3B2} game die
\u{1F9E9} puzzle piece,jigsaw
\u{1F9F8} teddy bear
\u{1FA85} pi\xF1ata,pinata
\u{1FAA9} mirror ball
\u{1FA86} nesting dolls
\u2660\uFE0F spade suit
\u2665\uFE0F heart suit
\u2666\uFE0F diamond suit
\u2663\uFE0F club suit
\u265F\uFE0F chess pawn
\u{1F0CF} joker,black joker
\u{1F004} mahjong red dragon
\u{1F3B4} flower playing cards
\u{1F3AD} performing arts
\u{1F5BC}\uFE0F framed picture
\u{1F3A8} artist palette
\u{1F9F5} thread
\u{1FAA1} sewing needle
\u{1F9F6} yarn
\u{1FAA2} knot

\u{1F453} glasses,eyeglasses
\u{1F576}\uFE0F sunglasses,dark sunglasses
\u{1F97D} goggles
\u{1F97C} lab coat
\u{1F9BA} safety vest
\u{1F454} necktie
\u{1F455} t-shirt
\u{1F456} jeans
\u{1F9E3} scarf
\u{1F9E4} gloves
\u{1F9E5} coat
\u{1F9E6} socks
\u{1F457} dress
\u{1F458} kimono
\u{1F97B} sari
\u{1FA71} one-piece swimsuit
\u{1FA72} briefs,swim brief
\u{1FA73} shorts
\u{1F459} bikini
\u{1F45A} woman\u2019s clothes,womans clothes
\u{1FAAD} folding hand fan
\u{1F45B} purse
\u{1F45C} handbag
\u{1F45D} clutch bag,pouch
\u{1F6CD}\uFE0F shopping bags
\u{1F392} backpack,school satchel
\u{1FA74} thong sandal
\u{1F45E} man\u2019s shoe,mans shoe
\u{1F45F} running shoe,athletic shoe
\u{1F97E} hiking boot
\u{1F97F} flat shoe
\u{1F460} high-heeled shoe
\u{1F461} woman\u2019s sandal
\u{1FA70} ballet shoes
\u{1F462} woman\u2019s boot
\u{1FAAE} hair pick
\u{1F451} crown
\u{1F452} woman\u2019s hat,womans hat
\u{1F3A9} top hat
\u{1F393} graduation cap,mortar board
\u{1F9E2} billed cap
\u{1FA96} military helmet
\u26D1\uFE0F rescue worker\u2019s helmet
\u{1F4FF} prayer beads
\u{1F484} lipstick
\u{1F48D} ring
\u{1F48E} gem stone
\u{1F507} muted speaker
\u{1F508} speaker low volume
\u{1F509} speaker medium volume,sound
\u{1F50A} speaker high volume,loud sound
\u{1F4E2} loudspeaker
\u{1F4E3} megaphone
\u{1F4EF} postal horn
\u{1F514} bell
\u{1F515} bell with slash,no bell
\u{1F3BC} musical score
\u{1F3B5} musical note
\u{1F3B6} musical notes
\u{1F399}\uFE0F studio microphone
\u{1F39A}\uFE0F level slider
\u{1F39B}\uFE0F control knobs
\u{1F3A4} microphone
\u{1F3A7} headphone
\u{1F4FB} radio
\u{1F3B7} saxophone
\u{1F3BA} trumpet
\u{1FA97} accordion
\u{1F3B8} guitar
\u{1F3B9} musical keyboard
\u{1F3BB} violin
\u{1FA95} banjo
\u{1F941} drum
\u{1FA98} long drum
\u{1FA87} maracas
\u{1FA88} flute
\u{1F4F1} mobile phone,iphone
\u{1F4F2} mobile phone with arrow,calling
\u260E\uFE0F telephone,phone
\u{1F4DE} telephone receiver
\u{1F4DF} pager
\u{1F4E0} fax machine
\u{1F50B} battery
\u{1FAAB} low battery
\u{1F50C} electric plug
\u{1F4BB} laptop,computer
\u{1F5A5}\uFE0F desktop computer
\u{1F5A8}\uFE0F printer
\u2328\uFE0F keyboard
\u{1F5B1}\uFE0F computer mouse
\u{1F5B2}\uFE0F trackball
\u{1F4BD} computer disk,minidisc
\u{1F4BE} floppy disk
\u{1F4BF} optical disk,cd
\u{1F4C0} dvd
\u{1F9EE} abacus
\u{1F3A5} movie camera
\u{1F39E}\uFE0F film frames,film strip
\u{1F4FD}\uFE0F film projector
\u{1F3AC} clapper board
\u{1F4FA} television,tv
\u{1F4F7} camera
\u{1F4F8} camera with flash
\u{1F4F9} video camera
\u{1F4FC} videocassette,vhs
\u{1F50D} magnifying glass tilted left
\u{1F50E} magnifying glass tilted right
\u{1F56F}\uFE0F candle
\u{1F4A1} light bulb
\u{1F526} flashlight
\u{1F3EE} red paper lantern,izakaya lantern
\u{1FA94} diya lamp
\u{1F4D4} notebook with decorative cover
\u{1F4D5} closed book
\u{1F4D6} open book
\u{1F4D7} green book
\u{1F4D8} blue book
\u{1F4D9} orange book
\u{1F4DA} books
\u{1F4D3} notebook
\u{1F4D2} ledger
\u{1F4C3} page with curl
\u{1F4DC} scroll
\u{1F4C4} page facing up
\u{1F4F0} newspaper
\u{1F5DE}\uFE0F rolled-up newspaper
\u{1F4D1} bookmark tabs
\u{1F516} bookmark
\u{1F3F7}\uFE0F label
\u{1FA99} coin
\u{1F4B0} money bag
\u{1F4B4} yen banknote
\u{1F4B5} dollar banknote
\u{1F4B6} euro banknote
\u{1F4B7} pound banknote
\u{1F4B8} money with wings
\u{1F4B3} credit card
\u{1F9FE} receipt
\u{1F4B9} chart increasing with yen
\u2709\uFE0F envelope
\u{1F4E7} e-mail
\u{1F4E8} incoming envelope
\u{1F4E9} envelope with arrow
\u{1F4E4} outbox tray
\u{1F4E5} inbox tray
\u{1F4E6} package
\u{1F4EB} closed mailbox with raised flag
\u{1F4EA} closed mailbox with lowered flag
\u{1F4EC} open mailbox with raised flag
\u{1F4ED} open mailbox with lowered flag,mailbox with no mail
\u{1F4EE} postbox
\u{1F5F3}\uFE0F ballot box with ballot
\u270F\uFE0F pencil
\u2712\uFE0F black nib
\u{1F58B}\uFE0F fountain pen
\u{1F58A}\uFE0F pen
\u{1F58C}\uFE0F paintbrush
\u{1F58D}\uFE0F crayon
\u{1F4DD} memo,pencil
\u{1F4BC} briefcase
\u{1F4C1} file folder
\u{1F4C2} open file folder
\u{1F5C2}\uFE0F card index dividers
\u{1F4C5} calendar,date
\u{1F4C6} tear-off calendar
\u{1F5D2}\uFE0F spiral notepad
\u{1F5D3}\uFE0F spiral calendar
\u{1F4C7} card index
\u{1F4C8} chart increasing,chart with upwards trend
\u{1F4C9} chart decreasing,chart with downwards trend
\u{1F4CA} bar chart
\u{1F4CB} clipboard
\u{1F4CC} pushpin
\u{1F4CD} round pushpin
\u{1F4CE} paperclip
\u{1F587}\uFE0F linked paperclips
\u{1F4CF} straight ruler
\u{1F4D0} triangular ruler
\u2702\uFE0F scissors
\u{1F5C3}\uFE0F card file box
\u{1F5C4}\uFE0F file cabinet
\u{1F5D1}\uFE0F wastebasket
\u{1F512} locked
\u{1F513} unlocked
\u{1F50F} locked with pen,lock with ink pen
\u{1F510} locked with key,closed lock with key
\u{1F511} key
\u{1F5DD}\uFE0F old key
\u{1F528} hammer
\u{1FA93} axe
\u26CF\uFE0F pick
\u2692\uFE0F hammer and pick
\u{1F6E0}\uFE0F hammer and wrench
\u{1F5E1}\uFE0F dagger
\u2694\uFE0F crossed swords
\u{1F4A3} bomb
\u{1FA83} boomerang
\u{1F3F9} bow and arrow
\u{1F6E1}\uFE0F shield
\u{1FA9A} carpentry saw
\u{1F527} wrench
\u{1FA9B} screwdriver
\u{1F529} nut and bolt
\u2699\uFE0F gear
\u{1F5DC}\uFE0F clamp
\u2696\uFE0F balance scale
\u{1F9AF} white cane,probing cane
\u{1F517} link
\u26D3\uFE0F chains
\u{1FA9D} hook
\u{1F9F0} toolbox
\u{1F9F2} magnet
\u{1FA9C} ladder
\u2697\uFE0F alembic
\u{1F9EA} test tube
\u{1F9EB} petri dish
\u{1F9EC} dna
\u{1F52C} microscope
\u{1F52D} telescope
\u{1F4E1} satellite antenna
\u{1F489} syringe
\u{1FA78} drop of blood
\u{1F48A} pill
\u{1FA79} adhesive bandage
\u{1FA7C} crutch
\u{1FA7A} stethoscope
\u{1FA7B} x-ray
\u{1F6AA} door
\u{1F6D7} elevator
\u{1FA9E} mirror
\u{1FA9F} window
\u{1F6CF}\uFE0F bed
\u{1F6CB}\uFE0F couch and lamp
\u{1FA91} chair
\u{1F6BD} toilet
\u{1FAA0} plunger
\u{1F6BF} shower
\u{1F6C1} bathtub
\u{1FAA4} mouse trap
\u{1FA92} razor
\u{1F9F4} lotion bottle
\u{1F9F7} safety pin
\u{1F9F9} broom
\u{1F9FA} basket
\u{1F9FB} roll of paper
\u{1FAA3} bucket
\u{1F9FC} soap
\u{1FAE7} bubbles
\u{1FAA5} toothbrush
\u{1F9FD} sponge
\u{1F9EF} fire extinguisher
\u{1F6D2} shopping cart
\u{1F6AC} cigarette,smoking
\u26B0\uFE0F coffin
\u{1FAA6} headstone
\u26B1\uFE0F funeral urn
\u{1F9FF} nazar amulet
\u{1FAAC} hamsa
\u{1F5FF} moai,moyai
\u{1FAA7} placard
\u{1FAAA} identification card

\u{1F3E7} atm sign
\u{1F6AE} litter in bin sign,put litter in its place
\u{1F6B0} potable water
\u267F wheelchair symbol
\u{1F6B9} men\u2019s room,mens
\u{1F6BA} women\u2019s room,womens
\u{1F6BB} restroom
\u{1F6BC} baby symbol
\u{1F6BE} water closet,wc
\u{1F6C2} passport control
\u{1F6C3} customs
\u{1F6C4} baggage claim
\u{1F6C5} left luggage
\u26A0\uFE0F warning
\u{1F6B8} children crossing
\u26D4 no entry
\u{1F6AB} prohibited,no entry sign
\u{1F6B3} no bicycles
\u{1F6AD} no smoking
\u{1F6AF} no littering,do not litter
\u{1F6B1} non-potable water
\u{1F6B7} no pedestrians
\u{1F4F5} no mobile phones
\u{1F51E} no one under eighteen
\u2622\uFE0F radioactive
\u2623\uFE0F biohazard
\u2B06\uFE0F up arrow
\u2197\uFE0F up-right arrow
\u27A1\uFE0F right arrow
\u2198\uFE0F down-right arrow,arrow lower right
\u2B07\uFE0F down arrow
\u2199\uFE0F down-left arrow,arrow lower left
\u2B05\uFE0F left arrow
\u2196\uFE0F up-left arrow
\u2195\uFE0F up-down arrow
\u2194\uFE0F left-right arrow
\u21A9\uFE0F right arrow curving left,leftwards arrow with hook
\u21AA\uFE0F left arrow curving right,arrow right hook
\u2934\uFE0F right arrow curving up,arrow heading up
\u2935\uFE0F right arrow curving down,arrow heading down
\u{1F503} clockwise vertical arrows
\u{1F504} counterclockwise arrows button
\u{1F519} back arrow
\u{1F51A} end arrow
\u{1F51B} on! arrow
\u{1F51C} soon arrow
\u{1F51D} top arrow
\u{1F6D0} place of worship
\u269B\uFE0F atom symbol
\u{1F549}\uFE0F om
\u2721\uFE0F star of david
\u2638\uFE0F wheel of dharma
\u262F\uFE0F yin yang
\u271D\uFE0F latin cross
\u2626\uFE0F orthodox cross
\u262A\uFE0F star and crescent
\u262E\uFE0F peace symbol
\u{1F54E} menorah
\u{1F52F} dotted six-pointed star
\u{1FAAF} khanda
\u2648 aries
\u2649 taurus
\u264A gemini
\u264B cancer
\u264C leo
\u264D virgo
\u264E libra
\u264F scorpio,scorpius
\u2650 sagittarius
\u2651 capricorn
\u2652 aquarius
\u2653 pisces
\u26CE ophiuchus
\u{1F500} shuffle tracks button,twisted rightwards arrows
\u{1F501} repeat button
\u{1F502} repeat single button,repeat one
\u25B6\uFE0F play button,arrow forward
\u23E9 fast-forward button
\u23ED\uFE0F next track button
\u23EF\uFE0F play or pause button
\u25C0\uFE0F reverse button,arrow backward
\u23EA fast reverse button,rewind
\u23EE\uFE0F last track button,previous track button
\u{1F53C} upwards button,arrow up small
\u23EB fast up button,arrow double up
\u{1F53D} downwards button,arrow down small
\u23EC fast down button,arrow double down
\u23F8\uFE0F pause button
\u23F9\uFE0F stop button
\u23FA\uFE0F record button
\u23CF\uFE0F eject button
\u{1F3A6} cinema
\u{1F505} dim button,low brightness
\u{1F506} bright button,high brightness
\u{1F4F6} antenna bars,signal strength
\u{1F6DC} wireless
\u{1F4F3} vibration mode
\u{1F4F4} mobile phone off
\u2640\uFE0F female sign
\u2642\uFE0F male sign
\u26A7\uFE0F transgender symbol
\u2716\uFE0F multiply,heavy multiplication x
\u2795 plus,heavy plus sign
\u2796 minus,heavy minus sign
\u2797 divide,heavy division sign
\u{1F7F0} heavy equals sign
\u267E\uFE0F infinity
\u203C\uFE0F double exclamation mark,bangbang
\u2049\uFE0F exclamation question mark,interrobang
\u2753 red question mark
\u2754 white question mark,grey question
\u2755 white exclamation mark,grey exclamation
\u2757 red exclamation mark,heavy exclamation mark
\u3030\uFE0F wavy dash
\u{1F4B1} currency exchange
\u{1F4B2} heavy dollar sign
\u2695\uFE0F medical symbol
\u267B\uFE0F recycling symbol,recycle
\u269C\uFE0F fleur-de-lis
\u{1F531} trident emblem
\u{1F4DB} name badge
\u{1F530} japanese symbol for beginner
\u2B55 hollow red circle,o
\u2705 check mark button,white check mark
\u2611\uFE0F check box with check,ballot box with check
\u2714\uFE0F check mark,heavy check mark
\u274C cross mark,x
\u274E cross mark button,negative squared cross mark
\u27B0 curly loop
\u27BF double curly loop
\u303D\uFE0F part alternation mark
\u2733\uFE0F eight-spoked asterisk
\u2734\uFE0F eight-pointed star,eight pointed black star
\u2747\uFE0F sparkle
\xA9\uFE0F copyright
\xAE\uFE0F registered
\u2122\uFE0F trade mark,tm
#\uFE0F\u20E3 keycap: #,hash
*\uFE0F\u20E3 keycap: *,asterisk
0\uFE0F\u20E3 keycap: 0,zero
1\uFE0F\u20E3 keycap: 1,one
2\uFE0F\u20E3 keycap: 2,two
3\uFE0F\u20E3 keycap: 3,three
4\uFE0F\u20E3 keycap: 4,four
5\uFE0F\u20E3 keycap: 5,five
6\uFE0F\u20E3 keycap: 6,six
7\uFE0F\u20E3 keycap: 7,seven
8\uFE0F\u20E3 keycap: 8,eight
9\uFE0F\u20E3 keycap: 9,nine
\u{1F51F} keycap: 10,keycap ten
\u{1F520} input latin uppercase,capital abcd
\u{1F521} input latin lowercase,abcd
\u{1F522} input numbers,1234
\u{1F523} input symbols
\u{1F524} input latin letters,abc
\u{1F170}\uFE0F a button (blood type)
\u{1F18E} ab button (blood type)
\u{1F171}\uFE0F b button (blood type)
\u{1F191} cl button
\u{1F192} cool button
\u{1F193} free button
\u2139\uFE0F information,information source
\u{1F194} id button
\u24C2\uFE0F circled m
\u{1F195} new button
\u{1F196} ng button
\u{1F17E}\uFE0F o button (blood type)
\u{1F197} ok button
\u{1F17F}\uFE0F p button
\u{1F198} sos button
\u{1F199} up! button
\u{1F19A} vs button
\u{1F201} japanese \u201Chere\u201D button,koko
\u{1F202}\uFE0F japanese \u201Cservice charge\u201D button,sa
\u{1F237}\uFE0F japanese \u201Cmonthly amount\u201D button,u6708
\u{1F236} japanese \u201Cnot free of charge\u201D button,u6709
\u{1F22F} japanese \u201Creserved\u201D button,u6307
\u{1F250} japanese \u201Cbargain\u201D button,ideograph advantage
\u{1F239} japanese \u201Cdiscount\u201D button,u5272
\u{1F21A} japanese \u201Cfree of charge\u201D button,u7121
\u{1F232} japanese \u201Cprohibited\u201D button,u7981
\u{1F251} japanese \u201Cacceptable\u201D button,accept
\u{1F238} japanese \u201Capplication\u201D button,u7533
\u{1F234} japanese \u201Cpassing grade\u201D button,u5408
\u{1F233} japanese \u201Cvacancy\u201D button,u7a7a
\u3297\uFE0F japanese \u201Ccongratulations\u201D button,congratulations
\u3299\uFE0F japanese \u201Csecret\u201D button,secret
\u{1F23A} japanese \u201Copen for business\u201D button,u55b6
\u{1F235} japanese \u201Cno vacancy\u201D button,u6e80
\u{1F534} red circle
\u{1F7E0} orange circle
\u{1F7E1} yellow circle
\u{1F7E2} green circle
\u{1F535} blue circle,large blue circle
\u{1F7E3} purple circle
\u{1F7E4} brown circle
\u26AB black circle
\u26AA white circle
\u{1F7E5} red square
\u{1F7E7} orange square
\u{1F7E8} yellow square
\u{1F7E9} green square
\u{1F7E6} blue square
\u{1F7EA} purple square
\u{1F7EB} brown square
\u2B1B black large square
\u2B1C white large square
\u25FC\uFE0F black medium square
\u25FB\uFE0F white medium square
\u25FE black medium-small square
\u25FD white medium-small square
\u25AA\uFE0F black small square
\u25AB\uFE0F white small square
\u{1F536} large orange diamond
\u{1F537} large blue diamond
\u{1F538} small orange diamond
\u{1F539} small blue diamond
\u{1F53A} red triangle pointed up,small red triangle
\u{1F53B} red triangle pointed down,small red triangle down
\u{1F4A0} diamond with a dot,diamond shape with a dot inside
\u{1F518} radio button
\u{1F533} white square button
\u{1F532} black square button

\u{1F3C1} chequered flag,checkered flag
\u{1F6A9} triangular flag,triangular flag on post
\u{1F38C} crossed flags
\u{1F3F4} black flag
\u{1F3F3}\uFE0F white flag
\u{1F3F3}\uFE0F\u200D\u{1F308} rainbow flag
\u{1F3F3}\uFE0F\u200D\u26A7\uFE0F transgender flag
\u{1F3F4}\u200D\u2620\uFE0F pirate flag
\u{1F3F4}\u{E0067}\u{E0062}\u{E0065}\u{E006E}\u{E0067}\u{E007F} flag: england
\u{1F3F4}\u{E0067}\u{E0062}\u{E0073}\u{E0063}\u{E0074}\u{E007F} flag: scotland
\u{1F3F4}\u{E0067}\u{E0062}\u{E0077}\u{E006C}\u{E0073}\u{E007F} flag: wales
+ ACADAEAFAGAIALAMAOAQARASATAUAWAXAZBABBBDBEBFBGBHBIBJBLBMBNBOBQBRBSBTBVBWBYBZCACCCDCFCGCHCICKCLCMCNCOCPCRCUCVCWCXCYCZDEDGDJDKDMDODZEAECEEEGEHERESETEUFIFJFKFMFOFRGAGBGDGEGFGGGHGIGLGMGNGPGQGRGSGTGUGWGYHKHMHNHRHTHUICIDIEILIMINIOIQIRISITJEJMJOJPKEKGKHKIKMKNKPKRKWKYKZLALBLCLILKLRLSLTLULVLYMAMCMDMEMFMGMHMKMLMMMNMOMPMQMRMSMTMUMVMWMXMYMZNANCNENFNGNINLNONPNRNUNZOMPAPEPFPGPHPKPLPMPNPRPSPTPWPYQARERORSRURWSASBSCSDSESGSHSISJSKSLSMSNSOSRSSSTSVSXSYSZTATCTDTFTGTHTJTKTLTMTNTOTRTTTVTWTZUAUGUMUNUSUYUZVAVCVEVGVIVNVUWFWSXKYEYTZAZMZW`;export{e as table};
//# sourceMappingURL=emoji-4QONSFQW.js.map
